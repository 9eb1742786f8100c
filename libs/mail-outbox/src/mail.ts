/** What a mail can be about, and what its text is filled with. Times are ISO 8601, links whole addresses. */

/** The data of each kind of mail. */
export interface MailKinds {
  /** Confirms that an address belongs to the user who gave it. */
  'verify-address': { readonly link: string; readonly validForHours: number };
  'reset-password': { readonly link: string; readonly validForMinutes: number };
  /** To a user for whose address somebody tried to sign up again. */
  'sign-up-attempt': { readonly signInLink?: string; readonly resetLink?: string };
  invitation: {
    readonly link: string;
    readonly accountName: string;
    readonly invitedBy: string;
    readonly role: string;
    readonly validForDays: number;
  };
  /** A sign-in from a network and browser that the user had not used before. */
  'new-sign-in': { readonly at: string; readonly address: string; readonly browser: string };
  /** To the address that a user had before. */
  'address-changed': { readonly at: string };
  /** The number was unlinked on its phone, not by us. */
  'number-unlinked': { readonly channelId: string; readonly channelName: string; readonly at: string };
  'webhook-failing': {
    readonly channelId: string;
    readonly channelName: string;
    /** Of the webhook: no path and no query, which may hold secrets. */
    readonly host: string;
    readonly since: string;
    readonly lastError: string | null;
  };
  /** `amount` as people read it, such as `4.00 USD`. */
  'payment-failed': {
    readonly amount: string;
    readonly graceEndsAt: string | null;
    readonly invoiceLink: string | null;
  };
  'grace-ending': { readonly graceEndsAt: string; readonly invoiceLink: string | null };
  /** How many numbers answer 402 from now on. */
  'numbers-stopped': { readonly numbers: number; readonly invoiceLink: string | null };
  'served-again': { readonly numbers: number };
  /** To operators: an account had two subscriptions, of which the newer is refunded and cancelled. The subscription is named as at Stripe. */
  'second-subscription': { readonly accountId: string; readonly subscription: string };
}

export type MailKind = keyof MailKinds;

export const MAIL_AUDIENCES = ['owners', 'billing'] as const;
/** Which members of an account: its owners; or those who may pay, owners included. */
export type MailAudience = (typeof MAIL_AUDIENCES)[number];

/** To whom: an address, a user's address at the time of sending, or every member of an audience, each in a mail of their own. */
export type MailRecipient =
  | { readonly address: string; readonly name?: string }
  | { readonly userId: string }
  | { readonly accountId: string; readonly audience: MailAudience }
  /** Every user who operates the installation, each in a mail of their own. */
  | { readonly audience: 'operators' };

/** A mail of any kind, for one reason. */
export type Mail = {
  [Kind in MailKind]: {
    readonly kind: Kind;
    readonly data: MailKinds[Kind];
    readonly to: MailRecipient;
    /**
     * Names what the mail is sent for, such as `invitation:inv_1`: the same reason is stored once, and so sent once. It is kept
     * after the mail has ended, so nothing secret may be in it.
     */
    readonly reason: string;
  };
}[MailKind];
