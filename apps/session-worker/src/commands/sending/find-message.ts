import { GatewayError } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import type { CommandContext } from '../command-context.js';
import type { MessageTools } from './message-tools.js';

/**
 * The stored message that a field of the request names.
 * @throws {GatewayError} 404 naming the field
 */
export async function findMessage(
  { channelId }: Pick<CommandContext, 'channelId'>,
  { writer }: Pick<MessageTools, 'writer'>,
  id: string,
  field: string,
): Promise<StoredMessage> {
  const found = await writer.find(channelId, id);
  if (!found) throw new GatewayError(404, { details: `${field}: no such message` });
  return found;
}
