import { randomBytes } from 'node:crypto';
import { GatewayError, type SendLinkPreviewInput, type SentMessage } from '@dormouse/gateway-contract';
import { MESSAGE_SECRET_BYTES } from '../../convert/message-secret.js';
import { textToNetwork } from '../../convert/message-to-network.js';
import {
  contactToNetwork,
  firstLink,
  locationToNetwork,
  pictureOf,
  pollToNetwork,
  previewToNetwork,
  type WidePicture,
} from '../../convert/plain-to-network.js';
import { toPreview } from '../../convert/present.js';
import type { CommandContext, Handlers, PreparationContext, Turn } from '../command-context.js';
import { composeAndSend, type Compose, type SendOptions } from '../sending/compose-message.js';
import { findMessage } from '../sending/find-message.js';
import { editMessage } from '../sending/edit-message.js';
import type { LinkPreviews, PagePreview } from '../sending/link-previews.js';
import type { MediaTools, MessageTools } from '../sending/message-tools.js';

/** What handlers of plain messages need. */
export interface PlainMessageTools extends MessageTools, Pick<MediaTools, 'media'> {
  readonly previews: Pick<LinkPreviews, 'of' | 'widePicture'>;
}

type PlainSends =
  | 'messages.sendText'
  | 'messages.sendLocation'
  | 'messages.sendContact'
  | 'messages.sendPoll'
  | 'messages.sendLinkPreview';

/** Sends of messages without a file. */
export function messageHandlers(tools: PlainMessageTools): Pick<Handlers, PlainSends> {
  return {
    'messages.sendText': {
      prepare: async (preparing, input) => {
        const { body, mentions, edit } = input;
        if (edit !== undefined) {
          return (context) => editMessage(context, tools, { id: edit, body, context: { mentions }, field: 'edit' });
        }
        const link = input.no_link_preview ? undefined : firstLink(body);
        const preview = link === undefined ? undefined : await tools.previews.of(link, preparing.channelId);
        const wide = preview && input.wide_link_preview ? await widePicture(preparing, tools, preview) : undefined;
        return (context) =>
          composeAndSend(context, tools, input, (contextInfo) => ({
            content:
              link !== undefined && preview
                ? previewToNetwork(body, { url: link, ...preview, wide }, contextInfo)
                : textToNetwork(body, contextInfo),
            shown: { type: 'text', text: { body } },
          }));
      },
    },
    'messages.sendLocation': (context, input) =>
      sendOrRefuseEdit(context, tools, input, (contextInfo) => locationToNetwork(input, contextInfo)),
    'messages.sendContact': (context, input) =>
      sendOrRefuseEdit(context, tools, input, (contextInfo) => contactToNetwork(input, contextInfo)),
    'messages.sendPoll': (context, input) =>
      sendOrRefuseEdit(context, tools, input, (contextInfo) =>
        pollToNetwork(input, randomBytes(MESSAGE_SECRET_BYTES), contextInfo),
      ),
    'messages.sendLinkPreview': { prepare: (context, input) => prepareLinkPreview(context, tools, input) },
  };
}

/** If anything goes wrong with the large picture, the preview is sent with the small one. */
async function widePicture(
  { channelId, openSession }: PreparationContext,
  { previews, media }: PlainMessageTools,
  preview: PagePreview,
): Promise<WidePicture | undefined> {
  const picture = await previews.widePicture(preview, channelId);
  if (!picture) return undefined;
  return media.outgoing.placeLinkPicture(await openSession(), picture).catch(() => undefined);
}

/** The network edits only texts and captions. */
async function sendOrRefuseEdit(
  context: CommandContext,
  tools: MessageTools,
  input: SendOptions,
  compose: Compose,
): Promise<SentMessage> {
  if (input.edit !== undefined) {
    await findMessage(context, tools, input.edit, 'edit');
    throw new GatewayError(403, { details: 'edit: only a text or a caption can replace a message' });
  }
  return composeAndSend(context, tools, input, compose);
}

/** What the customer leaves out of the preview comes from the page. */
async function prepareLinkPreview(
  preparing: PreparationContext,
  tools: PlainMessageTools,
  input: SendLinkPreviewInput,
): Promise<Turn<'messages.sendLinkPreview'>> {
  const { body, title, mentions, edit, canonical } = input;
  if (edit !== undefined) {
    return (context) => editMessage(context, tools, { id: edit, body, context: { mentions }, field: 'edit' });
  }
  const url = firstLink(body) ?? canonical;
  if (url === undefined) throw new GatewayError(400, { details: 'body: must have a link in it' });
  const given = pictureOf(input.preview) ?? (await pictureFrom(preparing, tools, input.media));
  const found =
    given && input.description !== undefined ? undefined : await tools.previews.of(url, preparing.channelId);
  const description = input.description ?? found?.description;
  const picture = given ?? found?.picture;
  const preview = toPreview(picture);
  const shown = {
    type: 'link_preview' as const,
    link_preview: {
      body,
      title,
      ...(description !== undefined && { description }),
      canonical: canonical ?? url,
      url,
      ...(input.media !== undefined && { id: input.media }),
      ...(preview !== undefined && { preview }),
    },
  };
  return (context) =>
    composeAndSend(context, tools, input, (contextInfo) => ({
      content: previewToNetwork(body, { url, title, description, picture }, contextInfo),
      shown,
    }));
}

/** The thumbnail of a file, which is made when the file is prepared for the network. */
export async function pictureFrom(
  { channelId, openSession, signal }: PreparationContext,
  { media }: Pick<MediaTools, 'media'>,
  id: string | undefined,
): Promise<Buffer | undefined> {
  if (id === undefined) return undefined;
  const file = await media.files.file(channelId, id);
  if (!file) throw new GatewayError(404, { details: 'media: no such media id' });
  const { facts } = await media.outgoing.place(await openSession(), file, 'image', { signal });
  return facts.thumbnail === undefined ? undefined : Buffer.from(facts.thumbnail, 'base64');
}
