import { GatewayError, normalizeChatId } from '@dormouse/gateway-contract';

/**
 * The group named in a path.
 * @throws {GatewayError} 404 for what cannot be a group's id
 */
export function groupIdIn(path: string): string {
  const chatId = normalizeChatId(path);
  if (!chatId?.endsWith('@g.us')) throw new GatewayError(404, { details: 'GroupID: no such group' });
  return chatId;
}
