import { attachmentHeader } from './attachment-header.js';

/** The name that old clients see, and the exact one. */
function namesIn(header: string): { plain: string | undefined; exact: string | undefined } {
  const [, plain, , exact] = /^attachment; filename="([^"\\%]*)"(; filename\*=UTF-8''([!-~]+))?$/.exec(header) ?? [];
  return { plain, exact: exact === undefined ? undefined : decodeURIComponent(exact) };
}

describe('attachmentHeader', () => {
  it('gives a plain name as it is', () => {
    expect(attachmentHeader('report.pdf')).toBe('attachment; filename="report.pdf"');
    expect(attachmentHeader('invoice 2025 (2).pdf')).toBe('attachment; filename="invoice 2025 (2).pdf"');
  });

  it.each([
    ['отчёт "v2".pdf', "'v2'.pdf"],
    ['отчёт.pdf', 'file.pdf'],
    ['写真 🐭.png', 'file.png'],
    ['Größe für Zoë.docx', 'Groe fur Zoe.docx'],
    ['e\u0301te\u0301.txt', 'ete.txt'],
    ['what: "this"?.txt', "what: 'this'?.txt"],
    ['100%20.pdf', '10020.pdf'],
    ['договор', 'file'],
    ['счёт.пдф', 'file'],
    ['a\\b.txt', 'ab.txt'],
  ])('gives %j exactly, beside a readable ASCII name (%s)', (fileName, plain) => {
    expect(namesIn(attachmentHeader(fileName))).toEqual({ plain, exact: fileName });
  });

  it('lets no line break or broken surrogate into the header', () => {
    expect(attachmentHeader('a\r\nSet-Cookie: x\ud800')).toMatch(/^[\x20-\x7e]+$/);
  });
});
