import highlighter from 'highlight.js/lib/core';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import bash from 'highlight.js/lib/languages/bash';
import { escaped } from './html.js';

highlighter.registerLanguage('sh', bash);
highlighter.registerLanguage('js', javascript);
highlighter.registerLanguage('json', json);
highlighter.registerLanguage('php', php);
highlighter.registerLanguage('python', python);

const NAMES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  json: 'JSON',
  php: 'PHP',
  python: 'Python',
  text: 'Text',
};

/**
 * A block of code with its language and a button that copies it.
 * @param language one of `sh`, `js`, `json`, `php`, `python`, `text`
 * @param label replaces the name of the language
 * @throws for another language
 */
export function codeHtml(code: string, language: string, label = NAMES[language]): string {
  if (label === undefined) throw new Error(`a block of code has an unknown language: ${language}`);
  const isText = language === 'text';
  const html = isText ? escaped(code) : highlighter.highlight(code, { language }).value;
  return `<figure class="code"><figcaption><span>${escaped(label)}</span><button class="copy" type="button" hidden>Copy</button></figcaption><pre tabindex="0"><code>${html}</code></pre></figure>`;
}
