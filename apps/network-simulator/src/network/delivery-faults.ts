import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { node, type Node } from '../wire/node.js';
import type { Faults, Place } from './faults.js';

type MessageFault = 'placeholder' | 'corrupt-message' | 'duplicate-message';

/** What becomes of a message, by fault. */
const changes: Record<MessageFault, (message: Node) => Node[]> = {
  placeholder: (message) => [{ ...message, content: [node('unavailable')] }],
  'corrupt-message': (message) => [corrupted(message)],
  'duplicate-message': (message) => [message, message],
};

/** What reaches a device in place of a message when faults are in force: nothing is lost but by a fault. */
export function underFaults(faults: Faults, place: Place, message: Node, log: Logger): Node[] {
  if (message.attrs['category'] === 'peer') return [message];
  for (const [kind, change] of Object.entries(changes) as [MessageFault, (message: Node) => Node[]][]) {
    if (!faults.trigger(kind, place)) continue;
    log.debug({ ...place, id: message.attrs['id'], kind }, 'a fault changes a message');
    return change(message);
  }
  return [message];
}

/**
 * Where a byte is changed, counted from the end: in the ciphertext, its MAC or its signature. The last bytes of a message
 * that begins a session are none of these: they number keys, which a receiver with a single key ignores.
 */
const FROM_END = 12;

/** The same message with a byte of its last ciphertext changed. */
function corrupted(message: Node): Node {
  if (!Array.isArray(message.content)) return message;
  const encs = message.content.filter(({ tag }) => tag === 'enc');
  const last = encs.at(-1);
  const content = message.content.map((part) => {
    if (part !== last || !(part.content instanceof Uint8Array)) return part;
    const changed = Buffer.from(part.content);
    const at = Math.max(0, changed.length - FROM_END);
    changed[at] = (changed[at] ?? 0) ^ ((randomBytes(1)[0] ?? 0) | 1);
    return { ...part, content: changed };
  });
  return { ...message, content };
}
