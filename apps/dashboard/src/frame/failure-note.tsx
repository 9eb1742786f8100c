import { Alert, Anchor, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ApiFailure } from '../api/api-failure.js';

/** What a form shows at a field: the sentence of a 400 that names it. */
export function fieldFault(error: Error | null, field: string): string | undefined {
  return error instanceof ApiFailure && error.field === field ? error.sentence : undefined;
}

/**
 * Why something was not done, with a link to its explanation. Shows nothing while the API is away: the banner does; and
 * nothing of a 400 at one of `fields`, which show it themselves.
 */
export function FailureNote({ error, fields = [] }: { error: Error | null; fields?: readonly string[] }) {
  const { t } = useTranslation();
  if (!(error instanceof ApiFailure)) return null;
  if (error.field !== undefined && fields.includes(error.field)) return null;
  const { href, requestId, retryAfterS } = error.parts;
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="alert" title={t('failure.title')}>
      <Text size="sm">{error.message}</Text>
      {retryAfterS !== undefined && <Text size="sm">{t('failure.retryAfter', { seconds: retryAfterS })}</Text>}
      <Text size="xs" mt={4}>
        {href !== undefined && (
          <Anchor href={href} target="_blank" size="xs">
            {t('failure.what')}
          </Anchor>
        )}
        {requestId !== undefined && ` ${t('failure.requestId', { requestId })}`}
      </Text>
    </Alert>
  );
}
