import { plainText } from '@dormouse/gateway-contract';
import { z } from 'zod';

/** Users and how they sign in. Cookies carry the session; nothing here takes an account key. */

const MAX_ADDRESS_LENGTH = 254;
const MAX_PASSWORD_LENGTH = 200;

/** One e-mail address, in lower case. */
export const emailAddress = plainText
  .trim()
  .toLowerCase()
  .max(MAX_ADDRESS_LENGTH, { error: `must have at most ${MAX_ADDRESS_LENGTH} characters`, abort: true })
  .refine((value) => z.email().safeParse(value).success, 'must be one e-mail address');

/** A password as somebody types it to sign in: any text. */
const typedPassword = z
  .string('must be text')
  .min(1, 'must not be empty')
  .max(MAX_PASSWORD_LENGTH, `must have at most ${MAX_PASSWORD_LENGTH} characters`);

/** A new password. Whether it is easy to guess is checked in addition. */
export const newPassword = z
  .string('must be text')
  .min(10, 'must have at least 10 characters')
  .max(MAX_PASSWORD_LENGTH, `must have at most ${MAX_PASSWORD_LENGTH} characters`);

export const userName = plainText
  .trim()
  .min(1, 'must not be empty')
  .max(100, { error: 'must have at most 100 characters', abort: true });

/** A token from a link in a mail. */
const linkToken = plainText.min(1, 'must not be empty').max(2_048, 'must have at most 2048 characters');
/** Six digits of an authenticator app. */
const totpCode = plainText.regex(/^\d{6}$/, 'must be six digits');
const recoveryCode = plainText.max(40, 'must have at most 40 characters');
const epochS = z.int();

/** Answer of what has nothing to return. */
export const done = z.object({ success: z.literal(true) });
export type Done = z.output<typeof done>;

export const userRecord = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  second_factor: z.boolean(),
  operator: z.boolean(),
});
export type UserRecord = z.output<typeof userRecord>;

export const sessionRecord = z.object({
  id: z.string(),
  created_at: epochS,
  expires_at: epochS,
  address: z.string().optional().describe('From where it was begun.'),
  browser: z.string().optional(),
  current: z.boolean().describe('It is the one of this request.'),
});
export type SessionRecord = z.output<typeof sessionRecord>;

/** Answer of GET /api/v1/auth/options: how people can sign in here. */
export const signInOptions = z.object({
  sign_up: z.boolean().describe('Whether anybody may sign up with an address and a password.'),
  identity_provider: z.string().optional().describe('The identity provider, when there is one.'),
});
export type SignInOptions = z.output<typeof signInOptions>;

export const signUpBody = z.object({ name: userName, email: emailAddress, password: newPassword });
export type SignUpBody = z.output<typeof signUpBody>;

export const renameUserBody = z.object({ name: userName });
export type RenameUserBody = z.output<typeof renameUserBody>;

export const addressBody = z.object({ email: emailAddress });
export type AddressBody = z.output<typeof addressBody>;

export const verifyAddressBody = z.object({ token: linkToken });
export type VerifyAddressBody = z.output<typeof verifyAddressBody>;

export const firstOwnerBody = signUpBody.extend({ token: linkToken });
export type FirstOwnerBody = z.output<typeof firstOwnerBody>;

export const signInBody = z.object({ email: emailAddress, password: typedPassword });
export type SignInBody = z.output<typeof signInBody>;

/** Signed in; or, without a user, one step is missing: POST /api/v1/auth/sign-in/code. */
export const signInAnswer = z.object({ code_required: z.boolean(), user: userRecord.optional() });
export type SignInAnswer = z.output<typeof signInAnswer>;

export const signInCodeBody = z.object({
  code: totpCode.optional().describe('Of the authenticator app.'),
  recovery_code: recoveryCode.optional().describe('One of the codes that were shown once; each works once.'),
});
export type SignInCodeBody = z.output<typeof signInCodeBody>;

export const currentSession = z.object({
  user: userRecord,
  session: sessionRecord.extend({
    proven_until: epochS
      .optional()
      .describe('Until when what is dangerous needs no new proof; absent: a proof is needed now.'),
  }),
});
export type CurrentSession = z.output<typeof currentSession>;

export const sessionList = z.object({ sessions: z.array(sessionRecord) });
export type SessionList = z.output<typeof sessionList>;

export const resetPasswordBody = z.object({ token: linkToken, password: newPassword });
export type ResetPasswordBody = z.output<typeof resetPasswordBody>;

export const changePasswordBody = z.object({ current_password: typedPassword, password: newPassword });
export type ChangePasswordBody = z.output<typeof changePasswordBody>;

export const proveBody = z.object({
  password: typedPassword,
  code: totpCode.optional().describe('Needed with a second factor.'),
});
export type ProveBody = z.output<typeof proveBody>;

export const startSecondFactorBody = z.object({
  password: typedPassword.optional().describe('Not needed by users who have none.'),
});
export type StartSecondFactorBody = z.output<typeof startSecondFactorBody>;

/** Shown once. The second factor is on after POST /api/v1/auth/second-factor/confirm. */
export const secondFactorSecrets = z.object({
  totp_uri: z.string().describe('`otpauth://…`, for the QR code of an authenticator app.'),
  recovery_codes: z.array(z.string()),
});
export type SecondFactorSecrets = z.output<typeof secondFactorSecrets>;

export const confirmSecondFactorBody = z.object({ code: totpCode });
export type ConfirmSecondFactorBody = z.output<typeof confirmSecondFactorBody>;

export const recoveryCodes = z.object({ recovery_codes: z.array(z.string()) });
export type RecoveryCodes = z.output<typeof recoveryCodes>;

export const startIdentityProviderBody = z.object({
  /** Path of this installation to which the browser returns. */
  return_to: plainText
    .regex(/^\/(?![/\\])[^\\]*$/, 'must be a path of this installation, such as /channels')
    .max(500, 'must have at most 500 characters')
    .optional(),
});
export type StartIdentityProviderBody = z.output<typeof startIdentityProviderBody>;

/** Where the browser goes to sign in. */
export const identityProviderAddress = z.object({ url: z.string() });
export type IdentityProviderAddress = z.output<typeof identityProviderAddress>;
