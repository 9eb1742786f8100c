import { z } from 'zod';
import type { InteractiveContent } from '../message-content.js';

export const textContent = z.object({ body: z.string(), view_once: z.boolean().optional() });

export const mediaFile = z
  .object({
    id: z.string(),
    mime_type: z.string(),
    file_size: z.int().describe('Bytes.'),
    file_name: z.string().optional(),
    sha256: z.string().optional().describe('SHA-256 of the bytes, base64.'),
    link: z.string().optional().describe('A URL that works without a token, for a while.'),
    timestamp: z.int().optional().describe('Epoch seconds.'),
  })
  .describe('A file as customers see it.');

export const imageContent = z.object({
  ...mediaFile.shape,
  caption: z.string().optional(),
  preview: z.string().optional().describe('A small JPEG as data: URI.'),
  width: z.int().optional().describe('Pixels.'),
  height: z.int().optional(),
  view_once: z.boolean().optional(),
});

export const videoContent = z
  .object({
    ...imageContent.shape,
    seconds: z.number().optional().describe('Duration in seconds.'),
    autoplay: z.boolean().optional().describe('Plays by itself, without sound.'),
  })
  .describe('Also the content of `gif` and `short`.');

export const audioContent = z
  .object({
    ...mediaFile.shape,
    seconds: z.number().optional().describe('Duration in seconds.'),
    waveform: z.string().optional().describe('64 loudness values from 0 to 100, base64.'),
    view_once: z.boolean().optional(),
  })
  .describe('Content of `audio` and `voice`.');

export const documentContent = z.object({
  ...mediaFile.shape,
  caption: z.string().optional(),
  filename: z.string().optional().describe('Repeats `file_name`: clients read either.'),
  page_count: z.int().optional(),
  preview: z.string().optional(),
  view_once: z.boolean().optional(),
});

export const stickerContent = z.object({
  ...mediaFile.shape,
  animated: z.boolean().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
  preview: z.string().optional(),
  view_once: z.boolean().optional(),
});

export const linkPreviewContent = z
  .object({
    body: z.string(),
    url: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    canonical: z.string().optional(),
    preview: z.string().optional(),
    id: z.string().optional().describe('Media id of the picture.'),
    link: z.string().optional(),
    sha256: z.string().optional(),
    invite_code: z.string().optional(),
    newsletter_id: z.string().optional(),
    catalog_id: z.string().optional(),
    view_once: z.boolean().optional(),
  })
  .describe('Content of `link_preview`, `group_invite`, `newsletter_invite` and `catalog`.');

export const adminInviteContent = z.object({
  body: z.string(),
  newsletter_id: z.string(),
  newsletter_name: z.string(),
  expiration: z.int().describe('Epoch seconds.'),
  preview: z.string().optional(),
});

export const locationContent = z.object({
  latitude: z.number(),
  longitude: z.number(),
  address: z.string().optional(),
  name: z.string().optional(),
  url: z.string().optional(),
  preview: z.string().optional(),
  accuracy: z.number().optional().describe('Metres.'),
  speed: z.number().optional().describe('Metres per second.'),
  degrees: z.number().optional().describe('Clockwise from north.'),
  comment: z.string().optional(),
  view_once: z.boolean().optional(),
});

export const liveLocationContent = z.object({
  latitude: z.number(),
  longitude: z.number(),
  accuracy: z.number().optional(),
  speed: z.number().optional(),
  degrees: z.number().optional(),
  caption: z.string().optional(),
  sequence_number: z.int().optional(),
  time_offset: z.int().optional().describe('Seconds since the sharing began.'),
  preview: z.string().optional(),
});

export const contactContent = z.object({ name: z.string().optional(), vcard: z.string().optional() });

export const contactListContent = z.object({ list: z.array(contactContent) });

export const pollResult = z
  .object({
    id: z.string().describe('Opaque; votes name options by it.'),
    name: z.string(),
    count: z.int(),
    voters: z.array(z.string()).describe('Contact ids.'),
  })
  .describe('One option of a poll and who chose it.');

export const pollContent = z.object({
  title: z.string(),
  options: z.array(z.string()),
  vote_limit: z.int().optional().describe('How many options one voter may choose; 0 = any number.'),
  total: z.int().optional().describe('Votes counted over all options.'),
  results: z.array(pollResult).optional(),
});

export const systemContent = z.object({ body: z.string() });

export const unknownContent = z
  .object({ view_once: z.boolean().optional() })
  .describe('What is known of a message whose content a linked device does not receive; `subtype` names its kind.');

export const replyContent = z
  .object({
    type: z.enum(['list_reply', 'buttons_reply']),
    list_reply: z
      .object({ id: z.string().optional(), title: z.string().optional(), description: z.string().optional() })
      .optional(),
    buttons_reply: z.object({ id: z.string().optional(), title: z.string().optional() }).optional(),
    form: z
      .object({ name: z.string(), values: z.record(z.string(), z.unknown()).optional() })
      .optional()
      .describe("What was filled in, where the button opened a form: as the business's app named it."),
  })
  .describe('A choice that a person made in a list or among buttons.');

export const orderContent = z.object({
  order_id: z.string().optional(),
  seller: z.string().optional(),
  title: z.string().optional(),
  text: z.string().optional(),
  token: z.string().optional(),
  item_count: z.int().optional(),
  currency: z.string().optional(),
  total_price: z.number().optional(),
  status: z.enum(['new', 'accepted', 'canceled']).optional(),
  preview: z.string().optional(),
});

export const productContent = z.object({ catalog_id: z.string().optional(), product_id: z.string().optional() });

export const listSection = z.object({
  title: z.string().optional(),
  rows: z.array(
    z.object({ id: z.string().optional(), title: z.string().optional(), description: z.string().optional() }),
  ),
});

export const listContent = z.object({
  header: z.string().optional(),
  body: z.string().optional(),
  label: z.string().optional(),
  footer: z.string().optional(),
  sections: z.array(listSection),
});

export const messageHeader = z
  .object({
    type: z.enum(['text', 'image', 'video', 'document', 'location']).optional(),
    text: z.object({ body: z.string() }).optional(),
    image: imageContent.optional(),
    video: videoContent.optional(),
    document: documentContent.optional(),
    location: locationContent.optional(),
  })
  .describe('What stands above the words of a template, or of a message with buttons.');

export const buttonsContent = z.object({
  header: messageHeader.optional(),
  text: z.string().optional(),
  footer: z.string().optional(),
  buttons: z.array(
    z.object({
      id: z.string().optional(),
      text: z.string().optional(),
      type: z.enum(['UNKNOWN', 'RESPONSE', 'NATIVE_FLOW']).optional(),
    }),
  ),
});

export const interactiveButton = z
  .object({
    type: z.enum(['quick_reply', 'call', 'copy', 'url']),
    title: z.string(),
    id: z.string(),
    copy_code: z.string().optional(),
    phone_number: z.string().optional(),
    url: z.string().optional(),
    merchant_url: z.string().optional(),
  })
  .describe('A button of an interactive message.');

export const interactiveContent: z.ZodType<InteractiveContent> = z
  .object({
    ...mediaFile.partial().shape,
    header: z.object({ text: z.string() }).optional(),
    body: z.object({ text: z.string() }).optional(),
    footer: z.object({ text: z.string() }).optional(),
    action: z.object({
      list: z.object({ label: z.string(), sections: z.array(listSection) }).optional(),
      buttons: z.array(interactiveButton).optional(),
      product: productContent.optional(),
    }),
    type: z.enum(['list', 'button', 'product']).optional(),
    get cards() {
      return z.array(interactiveContent).optional();
    },
  })
  .describe('The file above the words, if there is one, stands beside them.');

export const hsmButton = z
  .object({
    id: z.string().optional(),
    type: z.enum(['simple', 'reply', 'url', 'phone_number', 'copy_code']).optional(),
    text: z.string().optional(),
    url: z.string().optional(),
    phone_number: z.string().optional(),
    copy_code: z.string().optional(),
  })
  .describe('A button of a template.');

export const hsmContent = z
  .object({
    header: messageHeader.optional(),
    body: z.string().optional(),
    footer: z.string().optional(),
    buttons: z.array(hsmButton).optional(),
  })
  .describe('A message made from a template of a business.');

export const eventResponse = z.object({
  participant: z.string().optional(),
  response: z.enum(['UNKNOWN', 'GOING', 'NOT_GOING']).optional(),
  timestamp: z.int().optional().describe('Epoch seconds.'),
});

export const plannedEventContent = z
  .object({
    name: z.string().optional(),
    description: z.string().optional(),
    is_canceled: z.boolean().optional(),
    join_link: z.string().optional(),
    start: z.int().optional().describe('Epoch seconds.'),
    responses: z.array(eventResponse).optional(),
  })
  .describe('A planned event in a group and who comes.');
