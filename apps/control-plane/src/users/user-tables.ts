/** The engine's models in the tables and columns of `prisma/global/schema.prisma`. */

const TIMES = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

export const USER_TABLE = {
  modelName: 'users',
  fields: { emailVerified: 'email_verified', ...TIMES },
  additionalFields: {
    isOperator: { type: 'boolean', required: false, input: false, defaultValue: false, fieldName: 'is_operator' },
  },
} as const;

export const SESSION_TABLE = {
  modelName: 'user_sessions',
  fields: { userId: 'user_id', expiresAt: 'expires_at', ipAddress: 'ip_address', userAgent: 'user_agent', ...TIMES },
  additionalFields: {
    provenAt: { type: 'date', required: false, input: false, fieldName: 'proven_at' },
    secondFactorAt: { type: 'date', required: false, input: false, fieldName: 'second_factor_at' },
  },
} as const;

export const CREDENTIAL_TABLE = {
  modelName: 'user_credentials',
  fields: {
    userId: 'user_id',
    providerId: 'provider_id',
    accountId: 'account_id',
    accessToken: 'access_token',
    refreshToken: 'refresh_token',
    idToken: 'id_token',
    accessTokenExpiresAt: 'access_token_expires_at',
    refreshTokenExpiresAt: 'refresh_token_expires_at',
    ...TIMES,
  },
} as const;

export const VERIFICATION_TABLE = {
  modelName: 'user_verifications',
  fields: { expiresAt: 'expires_at', ...TIMES },
} as const;

export const SECOND_FACTOR_TABLE = {
  user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
  twoFactor: {
    modelName: 'user_second_factors',
    fields: {
      userId: 'user_id',
      backupCodes: 'backup_codes',
      failedVerificationCount: 'failed_verification_count',
      lockedUntil: 'locked_until',
    },
  },
} as const;
