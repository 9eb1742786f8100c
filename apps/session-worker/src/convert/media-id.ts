export { messageIdOfMedia, toMediaId } from '@dormouse/gateway-contract';
