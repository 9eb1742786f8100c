import { dispositionName } from './disposition.js';

const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

describe('dispositionName', () => {
  it.each([
    ['attachment; filename=invoice 2025.pdf', 'invoice 2025.pdf'],
    ['attachment; filename=invoice 2025.pdf ; size=3', 'invoice 2025.pdf'],
    ['attachment; filename="invoice 2025.pdf"', 'invoice 2025.pdf'],
    ['attachment; filename="a \\"b\\".pdf"', 'a "b".pdf'],
    [bytes('attachment; filename="Größe.pdf"'), 'Größe.pdf'],
    [bytes('attachment; filename=отчёт за март.pdf'), 'отчёт за март.pdf'],
    ['attachment; filename="caf\xe9.pdf"', 'café.pdf'],
    [`attachment; filename="x.pdf"; filename*=UTF-8''%e2%82%ac%20rates.pdf`, '€ rates.pdf'],
    [`inline; filename*=iso-8859-1''%a3.pdf`, '£.pdf'],
    ['attachment', undefined],
    ['attachment; filename=""', undefined],
    ['attachment; filename="never ends', undefined],
    [undefined, undefined],
  ])('finds in %j the name %j', (header, name) => expect(dispositionName(header)).toBe(name));
});
