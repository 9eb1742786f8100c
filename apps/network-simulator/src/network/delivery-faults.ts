import { randomBytes } from 'node:crypto';
import { node, type Node } from '../wire/node.js';
import type { Account } from './account.js';
import type { Network } from './network.js';

/** What reaches a device in place of a message when faults are in force: nothing is lost but what a fault says. */
export function underFaults(network: Network, account: Account, device: number, message: Node): Node[] {
  const place = { phone: account.phone, device };
  if (message.attrs['category'] === 'peer') return [message];
  if (network.faults.strike('placeholder', place)) {
    const { content: _content, ...rest } = message;
    return [{ ...rest, content: [node('unavailable')] }];
  }
  if (network.faults.strike('corrupt-message', place)) return [corrupted(message)];
  if (network.faults.strike('duplicate-message', place)) return [message, message];
  return [message];
}

/** The same message with a byte of its last ciphertext changed. */
function corrupted(message: Node): Node {
  if (!Array.isArray(message.content)) return message;
  const encs = message.content.filter(({ tag }) => tag === 'enc');
  const last = encs.at(-1);
  const content = message.content.map((part) => {
    if (part !== last || !(part.content instanceof Uint8Array)) return part;
    const changed = Buffer.from(part.content);
    const at = changed.length - 1;
    changed[at] = (changed[at] ?? 0) ^ ((randomBytes(1)[0] ?? 0) | 1);
    return { ...part, content: changed };
  });
  return { ...message, content };
}
