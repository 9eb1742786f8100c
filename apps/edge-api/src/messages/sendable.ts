import type { ChannelDirectory, ChannelRecord } from '@dormouse/channel-directory';
import { GatewayError } from '@dormouse/gateway-contract';

/**
 * Refuses what needs a linked number before it goes into a queue, where it would only wait for a scan.
 * @throws {GatewayError} 503 telling to scan the code
 */
export async function requireLinked(
  channel: ChannelRecord,
  directory: Pick<ChannelDirectory, 'refresh'>,
): Promise<void> {
  if (channel.session.linked) return;
  // The remembered record may be a second old; who has just scanned may send.
  const fresh = await directory.refresh(channel.id);
  if (fresh?.session.linked) return;
  throw new GatewayError(503, { details: 'not linked: scan the QR code from GET /users/login/image' });
}
