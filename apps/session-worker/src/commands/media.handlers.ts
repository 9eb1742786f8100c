import {
  GatewayError,
  indicatorsLastMs,
  messageIdOfMedia,
  type CommandInput,
  type SentMessage,
  type Success,
} from '@dormouse/gateway-contract';
import { safeFileName } from '@dormouse/media-files';
import { downloadNameOf, type MediaFile, type MediaReader } from '@dormouse/media-store/read';
import { proto } from '@whiskeysockets/baileys';
import { colorToNetwork, shownFile } from '../convert/media-to-network.js';
import { pictureOf } from '../convert/plain-to-network.js';
import type { IncomingMedia } from '../media/incoming.js';
import { mediaMessage, type MediaMessageWords } from '../media/media-message.js';
import type { OutgoingMedia } from '../media/outgoing.js';
import type { SendKind } from '../media/prepared-file.js';
import type { CommandContext, Handlers } from './command-context.js';
import { composeAndSend, findNamed, type SendOptions } from './compose-message.js';
import { editMessage } from './edit-message.js';
import { keyToNetwork } from '../convert/act-to-network.js';
import type { MessageTools } from './send-message.js';

/** What handlers of files need. */
export interface MediaTools extends MessageTools {
  readonly media: {
    readonly files: Pick<MediaReader, 'file' | 'link'>;
    readonly outgoing: Pick<OutgoingMedia, 'place'>;
    readonly incoming: Pick<IncomingMedia, 'fetch'>;
  };
}

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
  media: string;
  caption?: string | undefined;
  no_encode?: boolean | undefined;
}

type Words = Omit<MediaMessageWords, 'contextInfo' | 'viewOnce'>;

/** Sends of files, and fetching those of heard messages. */
export function mediaHandlers(tools: MediaTools): Pick<Handlers, MediaCommands> {
  return {
    'messages.sendImage': (context, input) => sendFile(context, tools, 'image', input, () => pictureWords(input)),
    'messages.sendVideo': (context, input) => sendFile(context, tools, 'video', input, () => pictureWords(input)),
    'messages.sendAudio': (context, input) => {
      const { seconds, background_color: color } = input;
      return sendFile(context, tools, 'audio', input, () => ({ seconds, backgroundArgb: colorToNetwork(color) }));
    },
    'messages.sendVoice': (context, input) => {
      const { seconds, waveform } = input;
      return sendFile(context, tools, 'voice', input, () => ({ seconds, waveform }));
    },
    'messages.sendDocument': (context, input) => {
      const { caption, filename } = input;
      const name = (file: MediaFile) => safeFileName(filename) ?? downloadNameOf(file);
      return sendFile(context, tools, 'document', input, (file) => ({ caption, fileName: name(file) }));
    },
    'messages.sendSticker': (context, input) => {
      const { width, height } = input;
      return sendFile(context, tools, 'sticker', input, () => ({ width, height }));
    },
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

/**
 * Sees to it that the network holds the file, then says the message that points to it. Until then nothing was said: what
 * fails, the customer may repeat.
 */
async function sendFile(
  context: CommandContext,
  tools: MediaTools,
  kind: SendKind,
  input: FileSend,
  words: (file: MediaFile) => Words,
): Promise<SentMessage> {
  if (input.edit !== undefined) return editCaption(context, tools, input.edit, input);
  const { files, outgoing } = tools.media;
  // Files have a mark of their own for "view once", beside the envelope.
  const { view_once: viewOnce, ...options } = input;
  return composeAndSend(context, tools, options, async (contextInfo) => {
    const file = await files.file(context.channelId, input.media);
    if (!file) throw new GatewayError(404, { details: 'media: no such media id' });
    const placed = await outgoing.place(context.session(), file, kind, { asIs: input.no_encode ?? false });
    if (tools.now() + indicatorsLastMs(input) >= context.answerBy) {
      throw new GatewayError(503, { details: 'the file could not be prepared in time', retryAfterS: 1 });
    }
    const content = mediaMessage(placed, { ...words(file), viewOnce, contextInfo });
    return { content, shown: shownFile(content, { id: file.id, link: await files.link(file) }) };
  });
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
  await tools.media.incoming.fetch({
    channelId: context.channelId,
    mediaId,
    message: { key: keyToNetwork(stored), message: proto.Message.decode(stored.proto) },
    socket: context.session().socket,
  });
  return { success: true };
}
