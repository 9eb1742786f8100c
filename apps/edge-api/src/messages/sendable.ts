import type { ChannelDirectory, ChannelRecord } from '@dormouse/channel-directory';
import { GatewayError } from '@dormouse/gateway-contract';

/**
 * Rejects a request that needs a linked number before it is queued, where it would wait for a scan in vain.
 * @throws {GatewayError} 503 with the instruction to scan the code
 */
export async function requireLinked(
  channel: ChannelRecord,
  directory: Pick<ChannelDirectory, 'refresh'>,
): Promise<void> {
  if (channel.session.linked) return;
  // The cached record may be a second old; a number that was just linked may send.
  const fresh = await directory.refresh(channel.id);
  if (fresh?.session.linked) return;
  throw new GatewayError(503, { details: 'not linked: scan the QR code from GET /users/login/image' });
}
