import { attachmentHeader } from './attachment-header.js';

describe('attachmentHeader', () => {
  it('gives a plain name as it is', () => {
    expect(attachmentHeader('report.pdf')).toBe('attachment; filename="report.pdf"');
  });

  it('gives other scripts exactly, beside an ASCII likeness', () => {
    expect(attachmentHeader('отчёт "v2".pdf')).toBe(
      `attachment; filename="_____ _v2_.pdf"; filename*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82%20%22v2%22.pdf`,
    );
  });

  it('lets no line break or broken surrogate into the header', () => {
    expect(attachmentHeader('a\r\nSet-Cookie: x\ud800')).toMatch(/^[\x20-\x7e]+$/);
  });
});
