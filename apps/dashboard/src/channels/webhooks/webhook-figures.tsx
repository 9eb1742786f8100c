import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { WebhookState } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useTimes } from '../times.js';

/** Where a webhook stands: up to date, or what waits and why. */
export function WebhookFigures({ webhook }: { webhook: WebhookState }) {
  const { t } = useTranslation('webhooks');
  const { duration, moment } = useTimes();
  const { backlog, failing, dead_letters: dead, held, set_aside: setAside, redirects_to: target } = webhook;
  return (
    <Stack gap={6}>
      <Text size="sm">
        {backlog.events === 0
          ? t('figures.upToDate')
          : t('figures.backlog', { n: backlog.events, age: duration(backlog.oldest_age_s) })}
      </Text>
      {held > 0 && <Text size="sm">{t('figures.held', { n: held })}</Text>}
      {setAside > 0 && <Text size="sm">{t('figures.setAside', { n: setAside })}</Text>}
      {dead > 0 && <Text size="sm">{t('figures.dead', { n: dead })}</Text>}
      {target !== undefined && (
        <Alert color="yellow" title={t('figures.redirects')}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {t('figures.redirectsTo', { url: target })}
          </Text>
        </Alert>
      )}
      {failing && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={t('figures.failing')}>
          <Text size="sm">
            {t('figures.failingWith', { n: failing.attempts, error: failing.last_error })}{' '}
            {t('figures.nextAttempt', { time: moment(failing.next_attempt_at * 1_000) })}
          </Text>
        </Alert>
      )}
    </Stack>
  );
}
