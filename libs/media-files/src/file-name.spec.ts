import { safeFileName, withExtension } from './file-name.js';

describe('safeFileName', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['./files/a.jpg', 'a.jpg'],
    ['..\\..\\windows\\system.ini', 'system.ini'],
    ['../../etc/passwd', 'passwd'],
    ['отчёт за март.pdf', 'отчёт за март.pdf'],
    ['写真 🐭.png', '写真 🐭.png'],
    ['e\u0301te\u0301.txt', 'e\u0301te\u0301.txt'],
    ['می\u200cخواهم.pdf', 'می\u200cخواهم.pdf'],
    ['👩\u200d🚀.png', '👩\u200d🚀.png'],
    ['a\u0000b\r\nc.txt', 'abc.txt'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['what: "this" <is> *it|?.txt', 'what: "this" <is> *it|?.txt'],
    ['  .hidden. ', '.hidden.'],
    ['../../../etc/passwd\u202egnp.exe', 'passwdgnp.exe'],
    ['half \ud83d.txt', 'half .txt'],
  ])('turns %j into %j', (given, safe) => {
    expect(safeFileName(given)).toBe(safe);
  });

  it.each([undefined, null, '', '.', '..', '...', 'a/..', '/', ' \u200e ', '\u202e..\u202c'])(
    'has no name for %j',
    (given) => {
      expect(safeFileName(given)).toBeUndefined();
    },
  );

  it('cuts a long name without losing its extension or half a character', () => {
    const name = safeFileName(`${'я'.repeat(500)}.docx`) ?? '';
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(240);
    expect(name).toMatch(/^я+\.docx$/);
  });
});

describe('withExtension', () => {
  it('adds an extension only where there is none', () => {
    expect(withExtension('a', 'pdf')).toBe('a.pdf');
    expect(withExtension('a.tar', 'gz')).toBe('a.tar');
    expect(withExtension('v1. draft', 'pdf')).toBe('v1. draft.pdf');
    expect(withExtension('data', 'bin')).toBe('data');
    const long = withExtension('я'.repeat(120), 'pdf');
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(240);
    expect(long).toMatch(/я\.pdf$/);
  });
});
