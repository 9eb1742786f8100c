import { GatewayError } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { shownContext, textToNetwork } from '../convert/message-to-network.js';
import type { CommandContext, Handlers } from './command-context.js';
import { editMessage } from './edit-message.js';
import { findRecipient } from './recipient.js';
import { sendMessage, type MessageTools } from './send-message.js';

export function messageHandlers(tools: MessageTools): Pick<Handlers, 'messages.sendText'> {
  return {
    'messages.sendText': async (context, input) => {
      const { body, mentions, ephemeral, edit } = input;
      const session = context.session();
      const to = await findRecipient(session, tools.reader, input.to);
      if (edit !== undefined) {
        return editMessage(context, tools, { id: edit, body, context: { mentions }, field: 'edit' });
      }
      const quoted = await findQuoted(context, tools, input.quoted);
      const people = { own: session.identity, numbers: new Map<string, string>() };
      const content = textToNetwork(body, { mentions, quoted, ephemeral }, people);
      const shown = shownContext({ mentions, quoted, ephemeral });
      await showTyping(context, tools, to.jid, input.typing_time);
      return sendMessage(context, tools, {
        to,
        content,
        shown: { type: 'text', text: { body }, ...(shown && { context: shown }) },
      });
    },
  };
}

async function findQuoted(
  { channelId }: CommandContext,
  { writer }: MessageTools,
  id: string | undefined,
): Promise<StoredMessage | undefined> {
  if (id === undefined) return undefined;
  const quoted = await writer.find(channelId, id);
  if (!quoted) throw new GatewayError(404, { details: 'quoted: no such message' });
  return quoted;
}

/** Shows "typing" for some seconds; the message follows in the same turn of the channel's lane. */
async function showTyping(
  context: CommandContext,
  tools: MessageTools,
  jid: string,
  seconds: number | undefined,
): Promise<void> {
  if (!seconds) return;
  const { socket } = context.session();
  await socket.sendPresenceUpdate('composing', jid);
  await tools.wait(seconds * 1_000);
  await socket.sendPresenceUpdate('paused', jid);
}
