/**
 * The parts of the network's Message, read from this build of the library at run time, so that an update of the library
 * needs no change here.
 */
import { proto } from '@whiskeysockets/baileys';

/** Name of a part: a field of the network's Message. */
export type Part = keyof proto.IMessage;

/** The content of a part that has a contextInfo has it under this name. */
export const PARTS: readonly Part[] = Object.entries(proto.Message.prototype)
  .filter(([, value]) => typeof value !== 'function')
  .map(([name]) => name as Part);

/** Parts that only hold another message: view once, disappearing, edited, of an album, of a bot, and others. */
export const WRAPPERS: ReadonlySet<string> = new Set(PARTS.filter(isWrapper));

function isWrapper(part: Part): boolean {
  return part !== 'conversation' && Reflect.get(sample(part), part) instanceof proto.Message.FutureProofMessage;
}

/** A message that has this part and nothing in it. */
function sample(part: Part): proto.Message {
  return proto.Message.fromObject({ [part]: part === 'conversation' ? ' ' : {} });
}

/** The numbers of the parts on the wire. */
export function partNumbers(): ReadonlySet<number> {
  return new Set(PARTS.map((part) => firstVarint(proto.Message.encode(sample(part)).finish()) >>> 3));
}

function firstVarint(bytes: Uint8Array): number {
  let value = 0;
  for (const [at, byte] of bytes.entries()) {
    value += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) break;
  }
  return value;
}

/** Parts that accompany the content of a message and have none themselves. */
export const ACCOMPANYING: ReadonlySet<string> = new Set<Part>([
  'messageContextInfo',
  'senderKeyDistributionMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
]);

/**
 * Parts without content for a person: signals between devices, and additions to another message, which
 * `change-from-network.ts` and `sealed-from-network.ts` read.
 */
export const SIGNALS: ReadonlySet<string> = new Set<Part>([
  ...(ACCOMPANYING as ReadonlySet<Part>),
  'protocolMessage',
  'reactionMessage',
  'encReactionMessage',
  'encCommentMessage',
  'encEventResponseMessage',
  'secretEncryptedMessage',
  'commentMessage',
  'pollUpdateMessage',
  'keepInChatMessage',
  'pinInChatMessage',
  // Its files arrive as messages of their own.
  'albumMessage',
  // The key of a call; calls are reported by events of their own.
  'call',
  'stickerSyncRmrMessage',
  'messageHistoryBundle',
  'messageHistoryNotice',
  'statusNotificationMessage',
  'statusStickerInteractionMessage',
]);
