import { catalogue as en } from './en/catalogue.js';
import { catalogue as es } from './es/catalogue.js';
import { firstLanguage } from './languages.js';
import { catalogue as pt } from './pt/catalogue.js';

/** Every text of a catalogue by its path. */
function texts(of: object, path = ''): [string, string][] {
  return Object.entries(of).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'string' ? [[path + key, value] as [string, string]] : texts(value as object, `${path}${key}.`),
  );
}

const variables = (text: string): string => (text.match(/\{\{\w+\}\}/g) ?? []).sort().join(' ');
/** Words that are the same in both languages. */
const SAME = /^(?:Dormouse|API|Token|E-mail|Webhooks?|\W*|.*\{\{.*)$/;

describe.each([
  ['Spanish', es],
  ['Portuguese', pt],
])('the %s catalogue', (_, other) => {
  it('has every text of the English one, and no other', () => {
    expect(texts(other).map(([path]) => path)).toEqual(texts(en).map(([path]) => path));
  });

  it('has no empty text, and the variables of the English one in each', () => {
    const english = new Map(texts(en));
    const faults = texts(other).filter(
      ([path, text]) => text.trim() === '' || variables(text) !== variables(english.get(path) ?? ''),
    );
    expect(faults).toEqual([]);
  });

  it('is translated: few texts are as in English', () => {
    const english = new Map(texts(en));
    const same = texts(other).filter(([path, text]) => text === english.get(path) && !SAME.test(text));
    expect(same.length).toBeLessThan(texts(en).length / 20 + 2);
  });
});

it('takes the chosen language, else the first of the browser that there is, else English', () => {
  expect(firstLanguage('pt', ['es-AR', 'en'])).toBe('pt');
  expect(firstLanguage('xx', ['fr-FR', 'es-AR', 'en'])).toBe('es');
  expect(firstLanguage(null, ['fr'])).toBe('en');
});
