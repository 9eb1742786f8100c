import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';

/** Whose vote on whose poll; the addresses go into the key, in the naming that the chat uses. */
export interface VoteContext {
  pollId: string;
  secret: Uint8Array;
  creator: string;
  voter: string;
}

/** Encrypts a vote: GCM under a key from the poll's secret, with poll id and voter as associated data. */
export function sealVote(options: string[], context: VoteContext): proto.Message.IPollEncValue {
  const plain = proto.Message.PollVoteMessage.encode({ selectedOptions: options.map(optionHash) }).finish();
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', voteKey(context), iv);
  cipher.setAAD(associated(context));
  return { encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), encIv: iv };
}

/** The options that a vote chose, by their hash (hex); `undefined` when the context is not the one it was made in. */
export function openVote(vote: proto.Message.IPollEncValue, context: VoteContext): string[] | undefined {
  const payload = Buffer.from(vote.encPayload ?? []);
  if (payload.length < 16) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', voteKey(context), Buffer.from(vote.encIv ?? []));
  decipher.setAAD(associated(context));
  decipher.setAuthTag(payload.subarray(payload.length - 16));
  try {
    const plain = Buffer.concat([decipher.update(payload.subarray(0, payload.length - 16)), decipher.final()]);
    const { selectedOptions } = proto.Message.PollVoteMessage.decode(plain);
    return selectedOptions.map((hash) => Buffer.from(hash).toString('hex'));
  } catch {
    return undefined;
  }
}

export function optionHash(option: string): Buffer {
  return createHash('sha256').update(option).digest();
}

function voteKey({ pollId, secret, creator, voter }: VoteContext): Buffer {
  const base = createHmac('sha256', Buffer.alloc(32)).update(secret).digest();
  return createHmac('sha256', base)
    .update(`${pollId}${creator}${voter}Poll Vote`)
    .update(Buffer.from([1]))
    .digest();
}

function associated({ pollId, voter }: VoteContext): Buffer {
  return Buffer.from(`${pollId}\0${voter}`);
}
