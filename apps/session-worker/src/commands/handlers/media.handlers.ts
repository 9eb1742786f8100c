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
import { mediaMessage, type MediaMessageWords } from '../../media/media-message.js';
import type { SendKind } from '../../media/prepared-file.js';
import type { CommandContext, Handlers, PreparedHandler } from '../command-context.js';
import { assertSendable, composeAndSend, type SendOptions } from '../sending/compose-message.js';
import { findNamed } from '../sending/find-message.js';
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

/** What all sends of files take. */
interface FileSend extends SendOptions {
  view_once?: boolean | undefined;
  media: string;
  caption?: string | undefined;
  no_encode?: boolean | undefined;
}

type Words = Omit<MediaMessageWords, 'contextInfo' | 'viewOnce'>;

/** Sends of files, and fetching those of heard messages. */
export function mediaHandlers(tools: MediaTools): Pick<Handlers, MediaCommands> {
  return {
    'messages.sendImage': sendOf(tools, 'image', (input) => pictureWords(input)),
    'messages.sendVideo': sendOf(tools, 'video', (input) => pictureWords(input)),
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

function pictureWords({
  caption,
  width,
  height,
  preview,
}: CommandInput<'messages.sendImage'> | CommandInput<'messages.sendVideo'>): Words {
  return { caption, width, height, thumbnail: pictureOf(preview) };
}

/** The command that sends a file as this kind. */
type SendOf<Kind extends SendKind> = `messages.send${Capitalize<Kind>}`;

/**
 * Sees to it that the network holds the file, then, in its turn, says the message that points to it. Until then nothing
 * was said: what fails, the customer may repeat. Who cannot be written to is found out before the work is done.
 */
function sendOf<Kind extends SendKind>(
  tools: MediaTools,
  kind: Kind,
  words: (input: CommandInput<SendOf<Kind>>, file: MediaFile) => Words,
): PreparedHandler<SendOf<Kind>> {
  return {
    prepare: async ({ channelId, openSession, signal }, input) => {
      const asked: FileSend = input;
      const { edit } = asked;
      if (edit !== undefined) return (context) => editCaption(context, tools, edit, asked);
      const { files, outgoing } = tools.media;
      const file = await files.file(channelId, asked.media);
      if (!file) throw new GatewayError(404, { details: 'media: no such media id' });
      const session = await openSession();
      await assertSendable(session, tools, asked);
      const placed = await outgoing.place(session, file, kind, { asIs: asked.no_encode ?? false, signal });
      // What was made of a file is what the message tells of.
      const { madeId } = placed.facts;
      const sent = (madeId === undefined ? undefined : await files.file(channelId, madeId)) ?? file;
      // Only files can be viewed once; everything else takes the option without effect.
      const { view_once: viewOnce, ...options } = asked;
      return (context) =>
        composeAndSend(context, tools, options, async (contextInfo) => {
          const content = mediaMessage(placed, { ...words(input, file), viewOnce, contextInfo });
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
  await findNamed(context, tools, id, 'edit');
  throw new GatewayError(403, { details: 'edit: only a text or a caption can replace a message' });
}

/** Takes its time beside the channel's other commands: it says nothing to anybody, except to the own phone. */
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
