export { Base64Decoder, base64Bytes, decodeBase64, NotBase64, notBase64 } from './base64.js';
export { ByteBudget, type ByteBudgetOptions, type HeldBytes } from './byte-budget.js';
export { extensionOf, typeOfFile, typeOfHead, type ContentType, type TypeClaims } from './content-type.js';
export { dispositionName } from './disposition.js';
export { Downloader, type Download, type DownloaderOptions } from './downloader.js';
export { safeFileName, withExtension } from './file-name.js';
export {
  MediaIntake,
  type GivenMedia,
  type MediaIntakeOptions,
  type SpooledText,
  type TakenFile,
  type TakeOptions,
} from './media-intake.js';
export {
  DEFAULT_MEDIA_LIMITS,
  fileTooLarge,
  kindOfUpload,
  MEDIA_KINDS,
  type MediaKind,
  type MediaLimits,
} from './media-kinds.js';
export { HEAD_BYTES, Spool, type SpooledFile, type SpoolWatch } from './spool.js';
