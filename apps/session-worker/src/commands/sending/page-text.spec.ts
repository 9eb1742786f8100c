import { pageText, shortened } from './page-text.js';

const html = (head: string, title: Buffer | string) =>
  Buffer.concat([Buffer.from(`<html><head>${head}<title>`), Buffer.from(title), Buffer.from('</title></head></html>')]);

const CYRILLIC_1251 = Buffer.from('cff0e8e2e5f2', 'hex');

describe('the text of a page', () => {
  it.each([
    ['the header', 'text/html; charset=windows-1251', html('', CYRILLIC_1251), 'Привет'],
    ['the header, in quotes and capitals', 'text/html;Charset="WINDOWS-1251"', html('', CYRILLIC_1251), 'Привет'],
    ['its own declaration', 'text/html', html('<meta charset=windows-1251>', CYRILLIC_1251), 'Привет'],
    [
      'its declaration in the old form',
      'text/html',
      html('<META http-equiv="Content-Type" content="text/html; charset=shift_jis">', Buffer.from('93fa967b', 'hex')),
      '日本',
    ],
    [
      'an XML declaration',
      'application/xhtml+xml',
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="gbk"?>'), html('', Buffer.from('c4e3bac3', 'hex'))]),
      '你好',
    ],
    ['a byte order mark', 'text/html', Buffer.from('\ufeff<title>Grüße</title>', 'utf16le'), 'Grüße'],
    ['nothing, when it is UTF-8', 'text/html', html('', 'Grüße'), 'Grüße'],
    ['nothing, when it is Western', 'text/html', html('', Buffer.from('Gr\xfc\xdfe', 'latin1')), 'Grüße'],
    [
      'its declaration, when the header names an unknown encoding',
      'text/html; charset=x',
      html('<meta charset="koi8-r">', Buffer.from('f0d2c9d7c5d4', 'hex')),
      'Привет',
    ],
  ])('is read by %s', (_by, contentType, page, title) => {
    expect(pageText(page, contentType)).toContain(`<title>${title}</title>`);
  });

  it('is decoded by its mark before its header, and by its header before its declaration', () => {
    const utf8 = Buffer.concat([Buffer.from('efbbbf', 'hex'), html('', 'Привет')]);
    expect(pageText(utf8, 'text/html; charset=windows-1251')).toContain('Привет');
    expect(pageText(html('<meta charset="koi8-r">', CYRILLIC_1251), 'text/html; charset=cp1251')).toContain('Привет');
  });

  it('ignores a declaration in a comment, and one of UTF-16 that can be read as ASCII', () => {
    expect(pageText(html('<!-- <meta charset="koi8-r"> --><meta charset="utf-16">', 'Привет'), '')).toContain('Привет');
  });
});

describe('a shortened text', () => {
  it.each([
    ['ab😀', 3, 'ab'],
    ['ab😀', 4, 'ab😀'],
    ['e\u0301e\u0301', 3, 'e\u0301'],
    ['👨‍👩‍👧 family', 5, ''],
    ['👨‍👩‍👧 family', 8, '👨‍👩‍👧'],
    ['plain', 5, 'plain'],
  ])('of %s to %i is %s', (text, most, expected) => {
    expect(shortened(text, most)).toBe(expected);
  });
});
