/** Additions to a message that are sealed under its secret: votes, reactions, comments, answers, edits. See `message-seal.ts`. */
import type { ActionContent, EventResponse, Message } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { actionRecord, type ReceivedAction } from './action-record.js';
import type { Addition } from './addition.js';
import { reactionAction } from './change-from-network.js';
import { commentAction } from './comment-from-network.js';
import { editAction } from './edit-from-network.js';
import { addressForms, bareJid, contactJid, isGroup } from './jid.js';
import { openedByLibrary } from './library-opened.js';
import { readReceived, type ReceivedMessage } from './message-from-network.js';
import { openSeal, type Sealed } from './message-seal.js';
import { innerContent, openMessage } from './opened-message.js';
import type { People } from './people.js';
import { withVote } from './poll-votes.js';
import { toNumber } from './present.js';
import { targetFromSender, targetOf } from './target.js';

/** A kind of addition: what is known of it before it is opened, and how its plaintext is read. */
interface Kind {
  action: ActionContent['type'];
  seal: Pick<Sealed, 'uses' | 'bound'>;
  opened: (plain: Uint8Array, at: At) => ReceivedAction | undefined;
}

/** Where an opened addition belongs. */
interface At {
  read: ReceivedMessage;
  target: { id: string; keyId: string };
  people: People;
}

interface Found {
  kind: Kind;
  key: proto.IMessageKey;
  /** Whether the library has rewritten the key to this side's point of view. */
  turned: boolean;
  sealed: Sealed;
}

const VOTE: Kind = { action: 'vote', seal: { uses: ['Poll Vote'], bound: true }, opened: openedVote };
const REACTION: Kind = { action: 'reaction', seal: { uses: ['Enc Reaction'], bound: false }, opened: openedReaction };
const COMMENT: Kind = { action: 'comment', seal: { uses: ['Enc Comment'], bound: false }, opened: openedComment };
const ANSWER: Kind = {
  action: 'event_response',
  seal: { uses: ['Event Response'], bound: true },
  opened: openedAnswer,
};

const { EVENT_EDIT, MESSAGE_EDIT } = proto.Message.SecretEncryptedMessage.SecretEncType;
const EDIT_USES = new Map<number, string>([
  [MESSAGE_EDIT, 'Message Edit'],
  [EVENT_EDIT, 'Event Edit'],
]);
/** Tried in this order for kinds of edits that this version of the library has no number for. */
const OTHER_EDIT_USES = ['Poll Edit', 'Poll Add Option', 'Message Edit', 'Event Edit'];

function editOf(type: number | null | undefined): Kind {
  const use = EDIT_USES.get(type ?? 0);
  return {
    action: 'edit',
    seal: { uses: use === undefined ? OTHER_EDIT_USES : [use], bound: false },
    opened: openedEdit,
  };
}

/**
 * Reads a sealed addition. If the message it belongs to is not stored, or it cannot be opened, the action is reported
 * with its type and target, without content. An edit is opened only if it is from the message's author.
 * @returns undefined when the message is not a sealed addition
 */
export function sealedFromNetwork(received: WAMessage, people: People): Addition | undefined {
  const found = sealedIn(received);
  const read = found && readReceived(received, people);
  if (!found || !read) return undefined;
  const named = (found.turned ? targetOf : targetFromSender)(read, found.key, people);
  return {
    target: { keyId: named.keyId, chatId: read.chatId },
    read: (stored) => {
      const target = { id: stored?.message.id ?? named.id, keyId: named.keyId };
      const known = found.kind.action === 'edit' && stored?.message.from !== read.base.from ? undefined : stored;
      const plain = known && openSealed(found, received, known, people);
      const action = plain && found.kind.opened(plain, { read, target, people });
      return { action: action ?? { trigger: actionRecord(read, { type: found.kind.action, target: target.id }) } };
    },
  };
}

function sealedIn({ message }: WAMessage): Found | undefined {
  const inner = innerContent(message);
  if (!inner || inner.conversation || inner.extendedTextMessage) return undefined;
  const { pollUpdateMessage: poll, encReactionMessage: reaction, encCommentMessage: comment } = inner;
  const { encEventResponseMessage: answer, secretEncryptedMessage: edit } = inner;
  if (poll) {
    const turned = openedByLibrary(message)?.pollUpdateMessage === poll;
    return found(VOTE, poll.pollCreationMessageKey, poll.vote, turned);
  }
  if (reaction) return found(REACTION, reaction.targetMessageKey, reaction);
  if (comment) return found(COMMENT, comment.targetMessageKey, comment);
  if (answer) return found(ANSWER, answer.eventCreationMessageKey, answer);
  return edit ? found(editOf(edit.secretEncType), edit.targetMessageKey, edit) : undefined;
}

function found(
  kind: Kind,
  key: proto.IMessageKey | null | undefined,
  sealed: { encIv?: Uint8Array | null; encPayload?: Uint8Array | null } | null | undefined,
  turned = false,
): Found | undefined {
  if (!key?.id || !sealed?.encIv || !sealed.encPayload) return undefined;
  return { kind, key, turned, sealed: { iv: sealed.encIv, payload: sealed.encPayload, ...kind.seal } };
}

function openSealed(
  { sealed, key }: Found,
  received: WAMessage,
  stored: StoredMessage,
  people: People,
): Buffer | undefined {
  const secret = stored.proto && openMessage(proto.Message.decode(stored.proto))?.contextInfo?.messageSecret;
  if (!secret?.length || !key.id) return undefined;
  const own = [contactJid(people.own.phone), ...(people.own.lid === undefined ? [] : [`${people.own.lid}@lid`])];
  const sealers = received.key.fromMe ? own : withNumbers(addressForms(received.key), people);
  const authors = stored.message.from_me ? own : withNumbers(addressesOfAuthor(stored), people);
  return openSeal(sealed, secret, { keyId: key.id, authors, sealers });
}

function addressesOfAuthor({ key, message }: StoredMessage): string[] {
  const addresses = [key.participant ?? key.remote, ...(message.from === undefined ? [] : [contactJid(message.from)])];
  return addresses.map(bareJid);
}

/** The given addresses of persons, and the other known addresses of the same persons. */
function withNumbers(jids: readonly string[], { numbers }: People): string[] {
  const persons = jids.filter((jid) => !isGroup(jid));
  const pairs = [...numbers].map(([lid, number]) => [`${lid}@lid`, contactJid(number)] as const);
  const others = persons.flatMap((jid) =>
    pairs.flatMap(([lid, number]) => (jid === lid ? [number] : jid === number ? [lid] : [])),
  );
  return [...new Set([...persons, ...others])];
}

/** A vote holds hashes of the chosen options' texts. */
function openedVote(plain: Uint8Array, { read, target }: At): ReceivedAction {
  const { selectedOptions } = proto.Message.PollVoteMessage.decode(plain);
  const votes = selectedOptions.map((hash) => Buffer.from(hash).toString('base64'));
  const voter = read.base.from;
  return changing(read, target, { type: 'vote', votes }, (before) => voter && withVote(before, votes, voter));
}

function openedReaction(plain: Uint8Array, { read, target }: At): ReceivedAction {
  return reactionAction(read, target, proto.Message.ReactionMessage.decode(plain).text ?? '');
}

function openedComment(plain: Uint8Array, { read, target, people }: At): ReceivedAction {
  return commentAction(read, target.id, proto.Message.decode(plain), people);
}

const { EventResponseType } = proto.Message.EventResponseMessage;

function openedAnswer(plain: Uint8Array, { read, target }: At): ReceivedAction {
  const { response, timestampMs } = proto.Message.EventResponseMessage.decode(plain);
  const atMs = toNumber(timestampMs);
  const answer: EventResponse = {
    ...(read.base.from !== undefined && { participant: read.base.from }),
    response:
      response === EventResponseType.GOING
        ? 'GOING'
        : response === EventResponseType.NOT_GOING
          ? 'NOT_GOING'
          : 'UNKNOWN',
    timestamp: atMs ? Math.floor(atMs / 1_000) : read.base.timestamp,
  };
  const action = { type: 'event_response' as const, event_response: answer };
  return changing(read, target, action, (before) => withAnswer(before, answer));
}

/** Each person has one answer to an event: the latest. */
function withAnswer(before: Message, answer: EventResponse): Message | undefined {
  const { event } = before;
  if (!event || before.status === 'deleted') return undefined;
  const others = (event.responses ?? []).filter(({ participant }) => participant !== answer.participant);
  return { ...before, event: { ...event, responses: [...others, answer] } };
}

/** Some clients seal the new content alone, others an edit as it is sent unsealed. */
function openedEdit(plain: Uint8Array, { read, target, people }: At): ReceivedAction | undefined {
  const inner = innerContent(proto.Message.decode(plain));
  const edited = inner?.protocolMessage?.editedMessage ?? inner;
  return edited && editAction(read, target, edited, people);
}

function changing(
  read: ReceivedMessage,
  { id, keyId }: At['target'],
  action: ActionContent,
  apply: (before: Message) => Message | '' | undefined,
): ReceivedAction {
  const trigger = actionRecord(read, { ...action, target: id });
  const target = { keyId, chatId: read.chatId };
  return { trigger, change: { trigger, target, apply: (before) => apply(before) || undefined } };
}
