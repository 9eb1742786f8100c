import { GatewayError, type SettingsPatch } from '@dormouse/gateway-contract';
import { isPlainlyNotPublic } from '@dormouse/public-addresses';

/**
 * Rejects webhooks whose URL has an address that is not on the public internet. Host names are not resolved here, since
 * their addresses can change: the dispatcher checks the address it connects to.
 * @throws {GatewayError} 400 naming the entry
 */
export function requirePublicWebhooks(patch: SettingsPatch): void {
  patch.webhooks?.forEach(({ url }, index) => {
    if (isPlainlyNotPublic(new URL(url).hostname)) {
      throw new GatewayError(400, { details: `webhooks.${index}.url: must not be a private address` });
    }
  });
}
