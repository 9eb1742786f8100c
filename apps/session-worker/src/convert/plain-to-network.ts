/** Locations, contact cards, polls and link previews in the network's form, each with the part customers see. Pure. */
import type { Message, SendContactBody, SendLocationBody, SendPollBody } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import { pollOptionId } from './poll-content.js';
import { present } from './present.js';

/** The content of a message, in the network's form and as customers see it. */
export interface Composed {
  content: proto.IMessage;
  shown: Pick<Message, 'type'> & Partial<Message>;
}

type Context = proto.IContextInfo | undefined;

/** The context of a content, where there is any. */
const withContext = (contextInfo: Context) => (contextInfo ? { contextInfo } : {});

/** A place on the map. */
export function locationToNetwork(place: SendLocationBody, contextInfo: Context): Composed {
  const { latitude, longitude, name, address, url, comment, accuracy, speed, degrees, preview } = place;
  return {
    content: {
      locationMessage: {
        degreesLatitude: latitude,
        degreesLongitude: longitude,
        ...present({
          name,
          address,
          url,
          comment,
          accuracyInMeters: accuracy,
          speedInMps: speed,
          degreesClockwiseFromMagneticNorth: degrees,
          jpegThumbnail: pictureOf(preview),
        }),
        ...withContext(contextInfo),
      },
    },
    shown: {
      type: 'location',
      location: {
        latitude,
        longitude,
        ...present({ name, address, url, comment, accuracy, speed, degrees, preview }),
      },
    },
  };
}

/** A contact card. */
export function contactToNetwork({ name, vcard }: SendContactBody, contextInfo: Context): Composed {
  return {
    content: { contactMessage: { displayName: name, vcard, ...withContext(contextInfo) } },
    shown: { type: 'contact', contact: { name, vcard } },
  };
}

/**
 * A poll. Votes are sealed under its secret, which is sent and stored with the message.
 * @param secret 32 random bytes
 */
export function pollToNetwork(poll: SendPollBody, secret: Uint8Array, contextInfo: Context): Composed {
  const { title, options, count } = poll;
  const creation = {
    name: title,
    selectableOptionsCount: count,
    options: options.map((optionName) => ({ optionName })),
    ...withContext(contextInfo),
  };
  return {
    content: {
      messageContextInfo: { messageSecret: secret },
      // Clients make polls with one choice in the third form of the message, all others in the first.
      ...(count === 1 ? { pollCreationMessageV3: creation } : { pollCreationMessage: creation }),
    },
    shown: {
      type: 'poll',
      poll: {
        title,
        options,
        vote_limit: count,
        total: 0,
        results: options.map((name) => ({ id: pollOptionId(name), name, count: 0, voters: [] })),
      },
    },
  };
}

/** What is shown of the page a link leads to. */
export interface LinkPreview {
  /** The link as it stands in the text. */
  url: string;
  title: string;
  description?: string | undefined;
  /** A small JPEG. */
  picture?: Uint8Array | undefined;
  /** A large one that the network holds: phones show it as wide as the message. */
  wide?: WidePicture | undefined;
}

export interface WidePicture {
  directPath: string;
  mediaKey: Uint8Array;
  /** Of the picture, in the clear and encrypted. */
  sha256: Uint8Array;
  encSha256: Uint8Array;
  width: number;
  height: number;
  uploadedAtS: number;
}

/** A text with the preview of a link in it. */
export function previewToNetwork(body: string, preview: LinkPreview, contextInfo: Context): proto.IMessage {
  const { url, title, description, picture, wide } = preview;
  return {
    extendedTextMessage: {
      text: body,
      matchedText: url,
      title,
      previewType: 0,
      ...present({ description, jpegThumbnail: picture }),
      ...(wide && {
        thumbnailDirectPath: wide.directPath,
        mediaKey: wide.mediaKey,
        mediaKeyTimestamp: wide.uploadedAtS,
        thumbnailSha256: wide.sha256,
        thumbnailEncSha256: wide.encSha256,
        thumbnailWidth: wide.width,
        thumbnailHeight: wide.height,
      }),
      ...withContext(contextInfo),
    },
  };
}

/** Characters that end a sentence, not a link. */
const ENDS_SENTENCE = /[.,;:!?'"\]}>]$/;

/** The first http(s) link in a text, without the punctuation after it. */
export function firstLink(text: string): string | undefined {
  let link = /https?:\/\/[^\s<>"]{1,2048}/i.exec(text)?.[0] ?? '';
  while (ENDS_SENTENCE.test(link) || closesNothing(link)) link = link.slice(0, -1);
  return URL.canParse(link) ? link : undefined;
}

/** Ends in a bracket that was opened before the link. */
function closesNothing(link: string): boolean {
  return link.endsWith(')') && link.split(')').length > link.split('(').length;
}

/** The bytes of a small picture given as data: URI; undefined for anything else. */
export function pictureOf(dataUri: string | undefined): Buffer | undefined {
  const base64 = dataUri && /^data:image\/[\w.+-]+;base64,([A-Za-z0-9+/=\s]+)$/i.exec(dataUri)?.[1];
  return base64 ? Buffer.from(base64, 'base64') : undefined;
}
