/** For specs: what they use of the network library to play the network. */
export {
  aesEncryptGCM,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  downloadContentFromMessage,
  encryptedStream,
  getWAUploadToServer,
  hkdf,
  WAMessageAddressingMode,
  WAMessageStatus,
  WAMessageStubType,
} from '@whiskeysockets/baileys';
