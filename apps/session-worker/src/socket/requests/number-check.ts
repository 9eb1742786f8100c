import { getBinaryNodeChild, getBinaryNodeChildren, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import { readJid } from '../../convert/jid.js';

/**
 * Queries the network for the numbers it knows. The library's own query drops the number that was typed from the answer,
 * and with it the way back from the network's form of a number to the one that was queried.
 * @param digits international numbers
 * @returns digits as queried to digits as the network writes them, for those it knows
 */
export async function findNumbers(
  socket: Pick<WASocket, 'query' | 'generateMessageTag'>,
  digits: readonly string[],
): Promise<Map<string, string>> {
  const users = digits.map((number) => ({
    tag: 'user',
    attrs: {},
    content: [{ tag: 'contact', attrs: {}, content: `+${number}` }],
  }));
  const answer: unknown = await socket.query({
    tag: 'iq',
    attrs: { to: '@s.whatsapp.net', type: 'get', xmlns: 'usync' },
    content: [
      {
        tag: 'usync',
        attrs: {
          context: 'interactive',
          mode: 'query',
          sid: socket.generateMessageTag(),
          last: 'true',
          index: '0',
        },
        content: [
          { tag: 'query', attrs: {}, content: [{ tag: 'contact', attrs: {} }] },
          { tag: 'list', attrs: {}, content: users },
        ],
      },
    ],
  });
  if (!isNode(answer)) throw new Error('the network did not answer'); // the library swallows its own timeout
  return readAnswer(answer, digits);
}

function isNode(value: unknown): value is BinaryNode {
  return typeof value === 'object' && value !== null && 'tag' in value;
}

/** The network repeats the number that was queried; where it does not, its own form may be the same. */
function readAnswer(answer: BinaryNode, queried: readonly string[]): Map<string, string> {
  const list = getBinaryNodeChild(getBinaryNodeChild(answer, 'usync'), 'list');
  const wanted = new Set(queried);
  const found = new Map<string, string>();
  for (const user of getBinaryNodeChildren(list, 'user')) {
    const contact = getBinaryNodeChild(user, 'contact');
    const jid = readJid(user.attrs.jid);
    if (contact?.attrs.type !== 'in' || jid?.server !== 's.whatsapp.net') continue;
    const typed = textOf(contact).replace(/\D/g, '');
    const alone = queried.length === 1 ? queried[0] : undefined;
    const number = wanted.has(typed) ? typed : wanted.has(jid.user) ? jid.user : alone;
    if (number !== undefined) found.set(number, jid.user);
  }
  return found;
}

function textOf({ content }: BinaryNode): string {
  if (typeof content === 'string') return content;
  return content instanceof Uint8Array ? Buffer.from(content).toString('utf8') : '';
}
