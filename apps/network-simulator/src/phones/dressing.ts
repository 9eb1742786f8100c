import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { z } from 'zod';
import { WRAPPERS } from './content.js';
import { keyOf, storedMessage } from './kinds/kind.js';
import type { PhoneContext } from './phone-context.js';

const { MediaType } = proto.ContextInfo.ExternalAdReplyInfo;
const { AssociationType } = proto.MessageAssociation;
const MEDIA_TYPES = { none: MediaType.NONE, image: MediaType.IMAGE, video: MediaType.VIDEO } as const;

/** The advertisement that somebody clicked before writing; phones of today often send it without its card. */
const ad = z.object({
  source: z.string().default('FB_Ads'),
  data: z.base64().optional(),
  delaySeconds: z.number().int().min(0).optional(),
  entryPoint: z.string().default('ctwa_ad'),
  app: z.string().default('instagram'),
  card: z
    .object({
      title: z.string(),
      body: z.string().optional(),
      url: z.string().optional(),
      sourceId: z.string().optional(),
      clickId: z.string().optional(),
      media: z.enum(['none', 'image', 'video']).default('none'),
      thumbnail: z.base64().optional(),
    })
    .optional(),
});

/** What any message can be given besides its content. */
export const dressingFields = {
  ad: ad.optional().describe('The advertisement that led here.'),
  expiration: z.number().int().min(1).optional().describe('Seconds after which it disappears.'),
  hdOf: z.string().min(1).optional().describe('Id of the picture that this one is the better copy of.'),
  albumOf: z.string().min(1).optional().describe('Id of the album that this picture belongs to.'),
  wrap: z.array(z.enum(WRAPPERS)).optional().describe('Wrappers around the content, the outermost first.'),
};

export type Dressing = { [K in keyof typeof dressingFields]?: z.input<(typeof dressingFields)[K]> };

/** What of the dressing goes into a context. */
export function contextOfDressing(dressing: Dressing): proto.IContextInfo | undefined {
  if (!dressing.ad && dressing.expiration === undefined) return undefined;
  return {
    ...(dressing.expiration !== undefined && { expiration: dressing.expiration }),
    ...(dressing.ad && contextOfAd(ad.parse(dressing.ad))),
  };
}

function contextOfAd({ source, data, delaySeconds, entryPoint, app, card }: z.output<typeof ad>): proto.IContextInfo {
  return {
    conversionSource: source,
    ...(data !== undefined && { conversionData: Buffer.from(data, 'base64') }),
    ...(delaySeconds !== undefined && { conversionDelaySeconds: delaySeconds }),
    entryPointConversionSource: entryPoint,
    entryPointConversionApp: app,
    ...(card && {
      externalAdReply: {
        title: card.title,
        ...(card.body !== undefined && { body: card.body }),
        mediaType: MEDIA_TYPES[card.media],
        ...(card.url !== undefined && { sourceUrl: card.url }),
        sourceType: 'ad',
        ...(card.sourceId !== undefined && { sourceId: card.sourceId }),
        ...(card.clickId !== undefined && { ctwaClid: card.clickId }),
        ...(card.thumbnail !== undefined && { thumbnail: Buffer.from(card.thumbnail, 'base64') }),
        showAdAttribution: true,
      },
    }),
  };
}

/** The content with its wrappers, and with the message that it belongs to. */
export function dressed(
  phone: PhoneContext,
  chat: string,
  content: proto.IMessage,
  dressing: Dressing,
): proto.IMessage {
  const { hdOf, albumOf, wrap = [] } = dressing;
  if (hdOf === undefined && albumOf === undefined && wrap.length === 0) return content;
  const { messageContextInfo, ...bare } = content;
  let inner: proto.IMessage = bare;
  for (const name of wrap.toReversed()) inner = { [name]: { message: inner } };
  if (hdOf !== undefined) inner = { associatedChildMessage: { message: inner } };
  const parent = hdOf ?? albumOf;
  const association = parent !== undefined && {
    messageAssociation: {
      associationType: hdOf === undefined ? AssociationType.MEDIA_ALBUM : hdType(bare),
      parentMessageKey: keyOf(phone, storedMessage(phone, parent), chat),
    },
  };
  if (!messageContextInfo && !association) return inner;
  return { ...inner, messageContextInfo: { ...messageContextInfo, ...association } };
}

const hdType = (content: proto.IMessage): proto.MessageAssociation.AssociationType =>
  content.videoMessage ? AssociationType.HD_VIDEO_DUAL_UPLOAD : AssociationType.HD_IMAGE_DUAL_UPLOAD;
