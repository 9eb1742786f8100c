/// <reference lib="dom" />
import { call } from './api.js';
import { announce, attempt, h, showForm } from './dom.js';

/** Shows how a bot reaches this network: the address of the socket and the key that its certificates are signed with. */
export async function showConnectGuide(): Promise<void> {
  const { socketUrl, rootKey } = await call<{ socketUrl: string; rootKey: string }>('GET', 'network');
  const setup = [
    `WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from('${rootKey}', 'base64');`,
    `const socket = makeWASocket({ auth, waWebSocketUrl: '${socketUrl}' });`,
  ].join('\n');
  await showForm('Connect a bot', [
    h('p', {}, 'A client of the real network talks to this one once it knows two things:'),
    copied('Socket address', socketUrl),
    copied('Root key', rootKey),
    copied('With Baileys', setup),
    h(
      'p',
      { class: 'quiet' },
      'Then scan its code with one of the phones. Other libraries: see the README of the simulator.',
    ),
  ]);
}

function copied(label: string, text: string): HTMLElement {
  const copy = () =>
    attempt(async () => {
      await navigator.clipboard.writeText(text);
      announce(`${label}: copied.`);
    });
  return h(
    'div',
    { class: 'copied' },
    h('span', { class: 'quiet' }, label),
    h('code', { tabindex: 0, 'aria-label': label }, text),
    h('button', { type: 'button', 'aria-label': `Copy: ${label}`, onclick: copy }, 'Copy'),
  );
}
