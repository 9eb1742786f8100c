import { GatewayError, type Message, type SentMessage } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { generateMessageIDV2, proto } from '@whiskeysockets/baileys';
import { toMessageId } from '../convert/message-id.js';
import { editToNetwork, shownContext, type OutgoingContext } from '../convert/message-to-network.js';
import type { CommandContext } from './command-context.js';
import { handOver, UnsaidError } from './hand-over.js';
import { refusedMessage } from './network-errors.js';
import type { MessageTools } from './send-message.js';

/** The network lets an author edit a message for this long. */
const EDITABLE_FOR_S = 15 * 60;

const TEXT_TYPES = ['text', 'link_preview'];
const CAPTIONED_TYPES = ['image', 'video', 'gif', 'document'];

/** A new text (or caption) for an own message. */
export interface Edit {
  /** Public id of the message. */
  id: string;
  body: string;
  context: Pick<OutgoingContext, 'mentions'>;
  /** The field of the request that named the message, for errors. */
  field: string;
}

/**
 * Edits a message. The change is stored and told after the network took it: a refused edit changed nothing.
 * @returns the message as it is now
 * @throws {GatewayError} 404 for an unknown message; 403 for one of somebody else, deleted, older than 15 minutes, or
 * without text
 */
export async function editMessage(context: CommandContext, tools: MessageTools, edit: Edit): Promise<SentMessage> {
  const session = context.session();
  const stored = await tools.writer.find(context.channelId, edit.id);
  if (!stored) throw new GatewayError(404, { details: `${edit.field}: no such message` });
  assertEditable(stored, edit.field, tools.now());
  const nowS = Math.floor(tools.now() / 1_000);
  const keyId = generateMessageIDV2(session.socket.authState.creds.me?.id);
  const { phone, deviceId } = session.identity;
  const people = { own: session.identity, numbers: new Map<string, string>() };
  const content = editToNetwork(stored, edit.body, edit.context, people, tools.now());
  const wire = { keyId, jid: stored.key.remote, content, attributes: { edit: '1' } };
  const { error } = await handOver(session, wire, () => context.leaveLane()).catch((failure: unknown) => {
    throw failure instanceof UnsaidError ? failure.cause : failure;
  });
  if (error !== undefined) throw refusedMessage(error);
  const { type, chat_id: chatId } = stored.message;
  const trigger: Message = {
    id: toMessageId({ keyId, fromMe: true, chatId }),
    from_me: true,
    type: 'action',
    chat_id: chatId,
    timestamp: nowS,
    source: 'api',
    device_id: deviceId,
    status: 'sent',
    action: {
      type: 'edit',
      target: edit.id,
      edited_type: shownType(type),
      edited_content: editedContent(type, edit.body),
    },
    from: phone,
  };
  const apply = (before: Message): Message => edited(before, edit);
  const { seqs } = await tools.writer.recordChange(session.fence, context.channelId, {
    trigger: {
      message: trigger,
      key: { id: keyId, remote: stored.key.remote },
      proto: proto.Message.encode(content).finish(),
    },
    target: { keyId: stored.key.id, chatId },
    apply,
  });
  if (seqs.length > 0) tools.eventsReady(context.channelId);
  return { sent: true, message: (await tools.reader.message(context.channelId, edit.id)) ?? apply(stored.message) };
}

function assertEditable({ message }: StoredMessage, field: string, nowMs: number): void {
  const refuse = (reason: string): never => {
    throw new GatewayError(403, { details: `${field}: ${reason}` });
  };
  if (!message.from_me) refuse('only own messages can be edited');
  if (message.status === 'deleted') refuse('the message is deleted');
  if (nowMs / 1_000 - message.timestamp > EDITABLE_FOR_S) refuse('a message can be edited for 15 minutes');
  if (![...TEXT_TYPES, ...CAPTIONED_TYPES].includes(message.type)) refuse('a message of this type has no text');
}

/** An edited text is a plain one: the preview of the old link goes. */
function shownType(type: string): string {
  return TEXT_TYPES.includes(type) ? 'text' : type;
}

function editedContent(type: string, body: string): Record<string, unknown> {
  return TEXT_TYPES.includes(type) ? { body } : { caption: body };
}

function edited(before: Message, { body, context }: Edit): Message {
  const type = shownType(before.type);
  const old = before[before.type];
  const kept = type === 'text' || typeof old !== 'object' || old === null ? {} : old;
  const after: Message = { ...before, type };
  delete after[before.type];
  const shown = shownContext(context);
  return Object.assign(after, {
    [type]: { ...kept, ...editedContent(before.type, body) },
    ...(shown && { context: { ...before.context, ...shown } }),
  });
}
