/** Kinds and limits are defined by the contract; they are exported here for code that reads files. */
export {
  DEFAULT_MEDIA_LIMITS,
  fileTooLarge,
  kindOfUpload,
  MEDIA_KINDS,
  type MediaKind,
  type MediaLimits,
} from '@dormouse/gateway-contract';
