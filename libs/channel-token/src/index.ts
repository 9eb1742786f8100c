export { hashToken, mintToken, readToken, type TokenFault, type TokenReading } from './channel-token.js';
