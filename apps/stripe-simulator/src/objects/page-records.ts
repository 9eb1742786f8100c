// Records of the hosted pages.
import type { Base, Metadata, ProrationBehavior } from './base-record.js';

export interface CheckoutSession extends Base {
  object: 'checkout.session';
  amount_total: number;
  cancel_url: string | null;
  client_reference_id: string | null;
  currency: string;
  customer: string | null;
  customer_email: string | null;
  expires_at: number;
  invoice: string | null;
  metadata: Metadata;
  payment_status: 'unpaid' | 'paid' | 'no_payment_required';
  status: 'open' | 'complete' | 'expired';
  subscription: string | null;
  success_url: string;
  url: string | null;
  collectsTaxId: boolean;
  lineItems: { id: string; price: string; quantity: number }[];
  subscriptionData: {
    metadata: Metadata;
    description: string | null;
    trialEnd: number | null;
    trialDays: number | null;
  };
  /** The test clock of its customer. */
  test_clock: string | null;
}

export interface PortalConfiguration extends Base {
  object: 'billing_portal.configuration';
  active: boolean;
  business_profile: { headline: string | null; privacy_policy_url: string | null; terms_of_service_url: string | null };
  default_return_url: string | null;
  features: PortalFeatures;
  is_default: boolean;
  metadata: Metadata;
  name: string | null;
  updated: number;
}

export interface PortalFeatures {
  customer_update: { allowed_updates: string[]; enabled: boolean };
  invoice_history: { enabled: boolean };
  payment_method_update: { enabled: boolean; payment_method_configuration: null };
  subscription_cancel: {
    cancellation_reason: { enabled: boolean; feedback_options: null; options: string[] };
    enabled: boolean;
    mode: 'at_period_end' | 'immediately';
    proration_behavior: ProrationBehavior;
  };
  subscription_pause: { duration: { interval_options: never[]; type: 'indefinite' }; enabled: boolean };
  subscription_update: {
    billing_cycle_anchor: null;
    default_allowed_updates: string[];
    enabled: boolean;
    proration_behavior: ProrationBehavior;
    schedule_at_period_end: { conditions: never[] };
    trial_update_behavior: 'end_trial';
  };
}

export interface PortalSession extends Base {
  object: 'billing_portal.session';
  configuration: string;
  customer: string;
  return_url: string | null;
  url: string;
  pageToken: string;
}
