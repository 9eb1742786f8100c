import { z } from 'zod';
import type { PortalConfiguration, PortalFeatures } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import {
  flag,
  list,
  listParameters,
  mergeMetadata,
  metadata,
  parameters,
  removable,
  text,
  url,
} from '../wire/parameters.js';
import { invalid, noSuch } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';
import { customerOf } from './customers.js';
import { listAnswer } from './lists.js';
import { operation } from './operation.js';

const proration = z.enum(['always_invoice', 'create_prorations', 'none']);
const toggle = z.strictObject({ enabled: flag }).optional();
const features = z.strictObject({
  customer_update: z
    .strictObject({
      allowed_updates: list(z.enum(['address', 'email', 'name', 'phone', 'shipping', 'tax_id'])).optional(),
      enabled: flag.optional(),
    })
    .optional(),
  ...{ invoice_history: toggle, payment_method_update: toggle },
  subscription_cancel: z
    .strictObject({
      cancellation_reason: z.strictObject({ enabled: flag, options: list(text).optional() }).optional(),
      ...{ enabled: flag.optional(), mode: z.enum(['at_period_end', 'immediately']).optional() },
      proration_behavior: proration.optional(),
    })
    .optional(),
  subscription_pause: toggle,
  subscription_update: z
    .strictObject({
      default_allowed_updates: removable(list(z.enum(['price', 'promotion_code', 'quantity']))).optional(),
      ...{ enabled: flag.optional(), proration_behavior: proration.optional() },
      products: removable(list(z.strictObject({ product: text, prices: list(text) }))).optional(),
    })
    .optional(),
});
const profile = z.strictObject({
  headline: removable(text.max(60)).optional(),
  privacy_policy_url: removable(url).optional(),
  terms_of_service_url: removable(url).optional(),
});
const shared = {
  business_profile: profile.optional(),
  default_return_url: removable(url).optional(),
  metadata: metadata.optional(),
  name: removable(text).optional(),
};

/** Nothing is allowed until it is configured. */
const NO_FEATURES: PortalFeatures = {
  customer_update: { allowed_updates: [], enabled: false },
  invoice_history: { enabled: false },
  payment_method_update: { enabled: false, payment_method_configuration: null },
  subscription_cancel: {
    cancellation_reason: { enabled: false, feedback_options: null, options: [] },
    ...{ enabled: false, mode: 'at_period_end', proration_behavior: 'none' },
  },
  subscription_pause: { duration: { interval_options: [], type: 'indefinite' }, enabled: false },
  subscription_update: {
    ...{ billing_cycle_anchor: null, default_allowed_updates: [], enabled: false, proration_behavior: 'none' },
    ...{ schedule_at_period_end: { conditions: [] }, trial_update_behavior: 'end_trial' },
  },
};

function mergeFeatures(present: PortalFeatures, given: z.output<typeof features> | undefined): PortalFeatures {
  const { customer_update: customer, subscription_cancel: cancel, subscription_update: update } = given ?? {};
  const reason = cancel?.cancellation_reason;
  return {
    customer_update: {
      allowed_updates: customer?.allowed_updates ?? present.customer_update.allowed_updates,
      enabled: customer?.enabled ?? present.customer_update.enabled,
    },
    invoice_history: given?.invoice_history ?? present.invoice_history,
    payment_method_update: { ...present.payment_method_update, ...given?.payment_method_update },
    subscription_cancel: {
      cancellation_reason: reason
        ? { enabled: reason.enabled, feedback_options: null, options: reason.options ?? [] }
        : present.subscription_cancel.cancellation_reason,
      enabled: cancel?.enabled ?? present.subscription_cancel.enabled,
      mode: cancel?.mode ?? present.subscription_cancel.mode,
      proration_behavior: cancel?.proration_behavior ?? present.subscription_cancel.proration_behavior,
    },
    subscription_pause: { ...present.subscription_pause, ...given?.subscription_pause },
    subscription_update: {
      ...present.subscription_update,
      ...(update?.enabled !== undefined && { enabled: update.enabled }),
      ...(update?.proration_behavior && { proration_behavior: update.proration_behavior }),
      ...(update?.default_allowed_updates !== undefined && {
        default_allowed_updates: update.default_allowed_updates ?? [],
      }),
    },
  };
}

const NO_PROFILE = { headline: null, privacy_policy_url: null, terms_of_service_url: null };

function mergeProfile(present: PortalConfiguration['business_profile'], given: z.output<typeof profile> | undefined) {
  const known = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return { ...present, ...Object.fromEntries(known) };
}

function configurationOf(world: World, id: string, param?: string): PortalConfiguration {
  const configuration = world.store.portalConfigurations.get(id);
  if (!configuration) throw noSuch('configuration', id, param);
  return configuration;
}

const configurationOperations = [
  operation('POST', '/v1/billing_portal/configurations', parameters({ ...shared, features }), (world, given) => {
    const at = world.now(null);
    const isFirst = [...world.store.portalConfigurations.oldestFirst()].length === 0;
    const record = world.store.portalConfigurations.put({
      ...{ id: newId('bpc'), object: 'billing_portal.configuration', created: at, updated: at, active: true },
      business_profile: mergeProfile(NO_PROFILE, given.business_profile),
      ...{ default_return_url: given.default_return_url ?? null, features: mergeFeatures(NO_FEATURES, given.features) },
      ...{ is_default: isFirst, metadata: mergeMetadata({}, given.metadata), name: given.name ?? null },
    });
    world.emit('billing_portal.configuration.created', record);
    return { record };
  }),
  operation(
    'GET',
    '/v1/billing_portal/configurations',
    listParameters({ active: flag.optional(), is_default: flag.optional() }),
    (world, given) =>
      listAnswer(world, world.store.portalConfigurations, given, '/v1/billing_portal/configurations', (one) => {
        return (given.active ?? one.active) === one.active && (given.is_default ?? one.is_default) === one.is_default;
      }),
  ),
  operation(
    'GET',
    '/v1/billing_portal/configurations/:configuration',
    parameters({}),
    (world, _, { configuration = '' }) => ({
      record: configurationOf(world, configuration),
    }),
  ),
  operation(
    'POST',
    '/v1/billing_portal/configurations/:configuration',
    parameters({ ...shared, features: features.optional(), active: flag.optional() }),
    (world, given, { configuration: id = '' }) => {
      const before = configurationOf(world, id);
      if (given.active === false && before.is_default)
        throw invalid('The default configuration cannot be deactivated.', 'active');
      const record = world.store.portalConfigurations.change(id, {
        ...(given.active !== undefined && { active: given.active }),
        ...(given.default_return_url !== undefined && { default_return_url: given.default_return_url }),
        ...(given.name !== undefined && { name: given.name }),
        business_profile: mergeProfile(before.business_profile, given.business_profile),
        ...{ features: mergeFeatures(before.features, given.features), updated: world.now(null) },
        metadata: mergeMetadata(before.metadata, given.metadata),
      });
      world.emit('billing_portal.configuration.updated', record, before);
      return { record };
    },
  ),
];

const newSession = parameters({
  ...{ customer: text, configuration: text.optional(), return_url: url.optional(), locale: text.optional() },
});

export const portalOperations = [
  ...configurationOperations,
  operation('POST', '/v1/billing_portal/sessions', newSession, (world, given) => {
    const customer = customerOf(world, given.customer, 'customer');
    const [fallback] = world.store.portalConfigurations.filter(({ is_default }) => is_default);
    const configuration =
      given.configuration === undefined ? fallback : configurationOf(world, given.configuration, 'configuration');
    if (!configuration)
      throw invalid(
        'No configuration provided and your test mode default configuration has not been created. Provide a configuration or create your default by saving your customer portal settings in test mode at https://dashboard.stripe.com/test/settings/billing/portal.',
      );
    if (!configuration.active) throw invalid('The configuration is not active.', 'configuration');
    const pageToken = newId('session');
    const record = world.store.portalSessions.put({
      ...{ id: newId('bps'), object: 'billing_portal.session', created: world.nowFor(customer.id) },
      ...{ configuration: configuration.id, customer: customer.id, pageToken },
      return_url: given.return_url ?? configuration.default_return_url,
      url: `${world.options.publicUrl()}/p/${pageToken}`,
    });
    world.emit('billing_portal.session.created', record);
    return { record };
  }),
];
