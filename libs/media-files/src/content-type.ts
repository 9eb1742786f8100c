/** The type of a file, by its content; a claim or a name only decides where the content does not show it. */
import { usableMimeType } from '@dormouse/gateway-contract';
import { fileTypeFromBuffer, fileTypeFromFile } from 'file-type';
import mime from 'mime';

export interface ContentType {
  mimeType: string;
  /** Letters and digits only: the first part of a media id. */
  extension: string;
  /** True when the content itself shows the type. */
  recognized: boolean;
}

/** The sender's claims about a file. */
export interface TypeClaims {
  mimeType?: string | undefined;
  fileName?: string | undefined;
}

/** Names the library uses that phones and browsers do not. */
const USUAL_NAMES: Record<string, string> = {
  'audio/x-m4a': 'audio/mp4',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'audio/opus': 'audio/ogg; codecs=opus',
  'video/x-m4v': 'video/mp4',
  'image/apng': 'image/png',
  'image/jpg': 'image/jpeg',
};

/** The extensions customers see in ids, where they differ from the registry's first. */
const USUAL_EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpeg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'video/quicktime': 'mov',
  'text/plain': 'txt',
  'application/octet-stream': 'bin',
};

/** Containers whose content does not show which application wrote them. */
const CONTAINERS = ['application/zip', 'application/x-cfb', 'application/xml'];

function usual(mimeType: string): string {
  return USUAL_NAMES[mimeType] ?? mimeType;
}

/** The extension for a mime type, letters and digits only. */
export function extensionOf(mimeType: string): string {
  const bare = mimeType.split(';')[0]?.trim().toLowerCase() ?? '';
  const extension = USUAL_EXTENSIONS[bare] ?? mime.getExtension(bare) ?? 'bin';
  return /^[a-z0-9]+$/.test(extension) ? extension : 'bin';
}

function claimed(claims: TypeClaims): string | undefined {
  const type = usableMimeType(claims.mimeType)?.toLowerCase();
  if (type && type !== 'application/octet-stream') return usual(type);
  return (claims.fileName && mime.getType(claims.fileName)) || undefined;
}

/** Image, audio and video formats are all recognized by content, so an unrecognized file is none, whatever is claimed. */
function isBelievable(mimeType: string): boolean {
  return !/^(image|audio|video)\//.test(mimeType) || mimeType.startsWith('image/svg');
}

function isText(head: Uint8Array): boolean {
  if (head.length === 0 || head.includes(0)) return false;
  try {
    // The head may end inside a character.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function decide(found: string | undefined, head: Uint8Array, claims: TypeClaims): ContentType {
  const claim = claimed(claims);
  const believed = claim !== undefined && isBelievable(claim) ? claim : undefined;
  if (found !== undefined && !(CONTAINERS.includes(found) && believed)) {
    const mimeType = usual(found);
    return { mimeType, extension: extensionOf(mimeType), recognized: true };
  }
  const mimeType = believed ?? (isText(head) ? 'text/plain' : 'application/octet-stream');
  return { mimeType, extension: extensionOf(mimeType), recognized: found !== undefined };
}

/** The type by the first bytes alone (4 KiB do); office files still look like their container. */
export async function typeOfHead(head: Uint8Array, claims: TypeClaims = {}): Promise<ContentType> {
  return decide((await fileTypeFromBuffer(head))?.mime, head, claims);
}

/** The type of a file on disk; looks into containers. `head` is its beginning. */
export async function typeOfFile(path: string, head: Uint8Array, claims: TypeClaims = {}): Promise<ContentType> {
  return decide((await fileTypeFromFile(path))?.mime, head, claims);
}
