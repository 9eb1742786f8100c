/** One template for each kind of mail. */
import type { MailKind, MailKinds } from '@dormouse/mail-outbox';
import { mailOf, type MailContent, type MailParts } from './mail-parts.js';
import { graceEnding, numbersStopped, paymentFailed, secondSubscription, servedAgain } from './money-mails.js';
import { numberUnlinked, webhookFailing } from './number-mails.js';
import { addressChanged, invitation, newSignIn, resetPassword, signUpAttempt, verifyAddress } from './people-mails.js';

type Templates = { readonly [Kind in MailKind]: (data: MailKinds[Kind], sender: string) => MailParts };

const TEMPLATES: Templates = {
  'verify-address': verifyAddress,
  'reset-password': resetPassword,
  'sign-up-attempt': signUpAttempt,
  invitation,
  'new-sign-in': newSignIn,
  'address-changed': addressChanged,
  'number-unlinked': numberUnlinked,
  'webhook-failing': webhookFailing,
  'payment-failed': paymentFailed,
  'grace-ending': graceEnding,
  'numbers-stopped': numbersStopped,
  'served-again': servedAgain,
  'second-subscription': secondSubscription,
};

/**
 * Subject, text and HTML of a mail.
 * @param sender name that it is signed with
 * @throws when its kind is not known, or its data is not of its kind
 */
export function renderMail<Kind extends MailKind>(
  { kind, data }: { readonly kind: Kind; readonly data: MailKinds[Kind] },
  sender: string,
): MailContent {
  return mailOf(TEMPLATES[kind](data, sender), sender);
}
