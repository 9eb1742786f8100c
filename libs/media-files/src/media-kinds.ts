/** What customers are told of kinds and limits stands in the contract; here it is at hand for those who read files. */
export {
  DEFAULT_MEDIA_LIMITS,
  fileTooLarge,
  kindOfUpload,
  MEDIA_KINDS,
  type MediaKind,
  type MediaLimits,
} from '@dormouse/gateway-contract';
