import {
  GatewayError,
  messageIdOfMedia,
  type CommandInput,
  type SentMessage,
  type Success,
} from '@dormouse/gateway-contract';
import { extensionOf, safeFileName, withExtension } from '@dormouse/media-files';
import { downloadNameOf, type MediaFile } from '@dormouse/media-store/read';
import { colorToNetwork, shownFile } from '../../convert/media-to-network.js';
import { decodeMessage } from '../../convert/message-bytes.js';
import { pictureOf } from '../../convert/plain-to-network.js';
import { mediaMessage, type MediaMessageFields } from '../../media/media-message.js';
import type { SendKind } from '../../media/prepared-file.js';
import type { CommandContext, Handlers, PreparedHandler } from '../command-context.js';
import { assertSendable, composeAndSend, type SendOptions } from '../sending/compose-message.js';
import { findMessage } from '../sending/find-message.js';
import { editMessage } from '../sending/edit-message.js';
import { keyToNetwork } from '../../convert/act-to-network.js';
import type { MediaTools } from '../sending/message-tools.js';

type MediaCommands =
  | 'messages.sendImage'
  | 'messages.sendVideo'
  | 'messages.sendAudio'
  | 'messages.sendVoice'
  | 'messages.sendDocument'
  | 'messages.sendSticker'
  | 'media.fetch';

/** The fields of all sends of files. */
interface FileSend extends SendOptions {
  view_once?: boolean | undefined;
  media: string;
  caption?: string | undefined;
  no_encode?: boolean | undefined;
}

type FileFields = Omit<MediaMessageFields, 'contextInfo' | 'viewOnce'>;

/** Sends of files, and fetching those of received messages. */
export function mediaHandlers(tools: MediaTools): Pick<Handlers, MediaCommands> {
  return {
    'messages.sendImage': sendOf(tools, 'image', (input) => pictureFields(input)),
    'messages.sendVideo': sendOf(tools, 'video', (input) => pictureFields(input)),
    'messages.sendAudio': sendOf(tools, 'audio', ({ seconds, background_color: color }) => ({
      seconds,
      backgroundArgb: colorToNetwork(color),
    })),
    'messages.sendVoice': sendOf(tools, 'voice', ({ seconds, waveform }) => ({ seconds, waveform })),
    'messages.sendDocument': sendOf(tools, 'document', ({ caption, filename }, file) => ({
      caption,
      fileName: withExtension(safeFileName(filename) ?? downloadNameOf(file), extensionOf(file.mimeType)),
    })),
    'messages.sendSticker': sendOf(tools, 'sticker', ({ width, height }) => ({ width, height })),
    'media.fetch': (context, input) => fetchFile(context, tools, input),
  };
}

function pictureFields({
  caption,
  width,
  height,
  preview,
}: CommandInput<'messages.sendImage'> | CommandInput<'messages.sendVideo'>): FileFields {
  return { caption, width, height, thumbnail: pictureOf(preview) };
}

/** The command that sends a file as this kind. */
type SendOf<Kind extends SendKind> = `messages.send${Capitalize<Kind>}`;

/**
 * Uploads the file if the network does not have it; then, in its turn, sends the message that points to it. Before that
 * nothing was sent: the customer may repeat what failed. Recipients that cannot be sent to are refused before the work.
 */
function sendOf<Kind extends SendKind>(
  tools: MediaTools,
  kind: Kind,
  fields: (input: CommandInput<SendOf<Kind>>, file: MediaFile) => FileFields,
): PreparedHandler<SendOf<Kind>> {
  return {
    prepare: async ({ channelId, openSession, signal }, input) => {
      const send: FileSend = input;
      const { edit } = send;
      if (edit !== undefined) return (context) => editCaption(context, tools, edit, send);
      const { files, outgoing } = tools.media;
      const file = await files.file(channelId, send.media);
      if (!file) throw new GatewayError(404, { details: 'media: no such media id' });
      const session = await openSession();
      await assertSendable(session, tools, send);
      const placed = await outgoing.place(session, file, kind, { asIs: send.no_encode ?? false, signal });
      // The message shows the file that was made of it, if one was.
      const { madeId } = placed.facts;
      const sent = (madeId === undefined ? undefined : await files.file(channelId, madeId)) ?? file;
      // Only files can be viewed once; on all other messages the option has no effect.
      const { view_once: viewOnce, ...options } = send;
      return (context) =>
        composeAndSend(context, tools, options, async (contextInfo) => {
          const content = mediaMessage(placed, { ...fields(input, file), viewOnce, contextInfo });
          return { content, shown: shownFile(content, { id: sent.id, link: await files.link(sent) }) };
        });
    },
  };
}

/** The network replaces captions only: the file stays. */
async function editCaption(
  context: CommandContext,
  tools: MediaTools,
  id: string,
  { caption, mentions }: FileSend,
): Promise<SentMessage> {
  if (caption !== undefined) {
    return editMessage(context, tools, { id, body: caption, context: { mentions }, field: 'edit' });
  }
  await findMessage(context, tools, id, 'edit');
  throw new GatewayError(403, { details: 'edit: only a text or a caption can replace a message' });
}

/** Runs outside the lane: it sends nothing to any chat, only a request to the own phone. */
async function fetchFile(
  context: CommandContext,
  tools: MediaTools,
  { mediaId }: CommandInput<'media.fetch'>,
): Promise<Success> {
  context.leaveLane();
  const messageId = messageIdOfMedia(mediaId);
  const stored = messageId === undefined ? undefined : await tools.writer.find(context.channelId, messageId);
  if (!stored?.proto) throw new GatewayError(404, { details: 'MediaID: no such media' });
  const { network, fileRoute } = context.session();
  await tools.media.incoming.fetch({
    channelId: context.channelId,
    mediaId,
    message: { key: keyToNetwork(stored), message: decodeMessage(stored.proto) },
    network,
    fileRoute,
  });
  return { success: true };
}
