import { safeFileName, withExtension } from './file-name.js';

describe('safeFileName', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['./files/a.jpg', 'a.jpg'],
    ['..\\..\\windows\\system.ini', 'system.ini'],
    ['../../etc/passwd', 'passwd'],
    ['отчёт за март.pdf', 'отчёт за март.pdf'],
    ['写真 🐭.png', '写真 🐭.png'],
    ['e\u0301te\u0301.txt', 'été.txt'],
    ['a\u0000b\r\nc.txt', 'abc.txt'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['what: "this"?.txt', 'what_ _this__.txt'],
    ['  .hidden. ', 'hidden'],
  ])('turns %j into %j', (given, safe) => {
    expect(safeFileName(given)).toBe(safe);
  });

  it.each([undefined, '', '...', '/', ' \u200e '])('has no name for %j', (given) => {
    expect(safeFileName(given)).toBeUndefined();
  });

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
  });
});
