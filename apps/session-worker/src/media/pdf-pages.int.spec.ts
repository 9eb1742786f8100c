import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { pdfPageCount } from './pdf-pages.js';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dormouse-pdf-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

async function count(content: Buffer | string): Promise<number | undefined> {
  const path = join(directory, 'a.pdf');
  await writeFile(path, Buffer.isBuffer(content) ? content : Buffer.from(content, 'latin1'));
  return pdfPageCount(path);
}

/** A PDF with a classic cross-reference table; `filler` bytes stand between the objects. */
function classic(objects: string[], options: { filler?: number; prev?: string } = {}): string {
  let text = `%PDF-1.4\n${'%'.repeat(options.filler ?? 0)}\n`;
  const places = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const entries = places.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  return `${text}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
}

/** A PDF 1.5 whose catalog and page tree are packed in an object stream, with a cross-reference stream. */
function packed(pages: number, predictor: boolean): Buffer {
  const inner = ['<< /Type /Catalog /Pages 2 0 R >>', `<< /Type /Pages /Kids [5 0 R] /Count ${pages} >>`];
  const header = `1 0 2 ${(inner[0] ?? '').length + 1} `;
  const body = deflateSync(Buffer.from(`${header}${inner.join(' ')}`, 'latin1'));
  const head = Buffer.from('%PDF-1.5\n', 'latin1');
  const objects = Buffer.concat([
    Buffer.from(
      `3 0 obj\n<< /Type /ObjStm /N 2 /First ${header.length} /Length ${body.length} /Filter /FlateDecode >>\nstream\n`,
    ),
    body,
    Buffer.from('\nendstream\nendobj\n'),
  ]);
  const rows = [
    [0, 0, 0, 255],
    [2, 0, 3, 0],
    [2, 0, 3, 1],
    [1, 0, head.length, 0],
    [1, 0, (head.length + objects.length) & 0xff, 0],
  ];
  if (head.length + objects.length > 255) (rows[4] ?? [])[1] = (head.length + objects.length) >> 8;
  const up = rows.map((row, at) => [2, ...row.map((byte, column) => (byte - (rows[at - 1]?.[column] ?? 0)) & 0xff)]);
  const table = deflateSync(Buffer.from((predictor ? up : rows).flat()));
  const parms = predictor ? '/DecodeParms << /Columns 4 /Predictor 12 >>' : '';
  const dictionary = `<< /Type /XRef /Size 5 /W [1 2 1] /Root 1 0 R /Length ${table.length} /Filter /FlateDecode ${parms} >>`;
  return Buffer.concat([
    head,
    objects,
    Buffer.from(`4 0 obj\n${dictionary}\nstream\n`),
    table,
    Buffer.from(`\nendstream\nendobj\nstartxref\n${head.length + objects.length}\n%%EOF\n`),
  ]);
}

describe('pdfPageCount', () => {
  const catalog = '<< /Type /Catalog /PageMode /UseNone /Pages 2 0 R >>';

  it('reads a classic file, wherever its objects are', async () => {
    expect(await count(classic([catalog, '<< /Type /Pages /Kids [] /Count 12 >>']))).toBe(12);
    expect(await count(classic([catalog, '<</Count 3/Type/Pages>>'], { filler: 3_000_000 }))).toBe(3);
  });

  it('follows a count that is an object of its own', async () => {
    expect(await count(classic([catalog, '<< /Type /Pages /Count 3 0 R >>', '77']))).toBe(77);
  });

  it('takes the newest version of a file that was changed', async () => {
    const before = classic([catalog, '<< /Type /Pages /Count 1 >>']);
    const prev = /startxref\n(\d+)/.exec(before)?.[1] ?? '';
    const at = before.length;
    const object = '2 0 obj\n<< /Type /Pages /Count 2 >>\nendobj\n';
    const entry = `${String(at).padStart(10, '0')} 00000 n \n`;
    const trailer = `trailer\n<< /Size 3 /Root 1 0 R /Prev ${prev} >>\nstartxref\n${at + object.length}\n%%EOF\n`;
    expect(await count(`${before}${object}xref\n2 1\n${entry}${trailer}`)).toBe(2);
  });

  it.each([true, false])('reads packed objects and cross-references (predictor: %s)', async (predictor) => {
    expect(await count(packed(321, predictor))).toBe(321);
  });

  it('has no count for what it cannot read, and ends', async () => {
    const whole = classic([catalog, '<< /Type /Pages /Count 5 >>']);
    for (const broken of [
      '',
      '%PDF-1.4',
      'not a pdf startxref 3',
      whole.slice(0, -20).replace('startxref', 'startxxxx'),
      whole.replace('/Count 5', '/Kount 5'),
      whole.replace(/startxref\n\d+/, 'startxref\n99999999'),
      whole.replace('/Root 1 0 R', '/Root 9 0 R'),
      `xref\n0 0\ntrailer\n<< /Prev 0 /Root 1 0 R >>\nstartxref\n0\n`,
    ]) {
      expect(await count(broken)).toBeUndefined();
    }
  });

  it('skips empty ranges of objects, but not thousands of them', async () => {
    const whole = classic([catalog, '<< /Type /Pages /Count 5 >>']);
    expect(await count(whole.replace('xref\n0', `xref\n${'0 0\n'.repeat(100)}0`))).toBe(5);
    expect(await count(whole.replace('xref\n0', `xref\n${'0 0\n'.repeat(5_000)}0`))).toBeUndefined();
  });
});
