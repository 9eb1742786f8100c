import type { SettingsPatch } from '@dormouse/gateway-contract';
import { requireUsableProxy } from './proxy-address.js';
import { requirePublicWebhooks } from './webhook-address.js';

/**
 * Rejects settings that cannot work here, whoever changes them: webhooks and proxies at addresses that are not on the public
 * internet, and proxies that cannot be.
 * @param allowPrivate webhooks and proxies may be at private addresses: for development
 * @throws {GatewayError} 400 naming the field
 */
export function requireUsableSettings(patch: SettingsPatch, { allowPrivate }: { allowPrivate: boolean }): void {
  if (!allowPrivate) requirePublicWebhooks(patch);
  requireUsableProxy(patch, { allowPrivate });
}
