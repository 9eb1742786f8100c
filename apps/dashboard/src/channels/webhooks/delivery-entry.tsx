import { Badge, Code, Group, Stack, Text } from '@mantine/core';
import type { DeliveryRecord } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useTimes } from '../times.js';

const COLORS: Record<DeliveryRecord['outcome'], string> = {
  taken: 'moss',
  failed: 'yellow',
  set_aside: 'yellow',
  dead: 'red',
  dropped: 'red',
};

/** One delivery attempt: what was sent, what became of it, and what the address answered. */
export function DeliveryEntry({ delivery }: { delivery: DeliveryRecord }) {
  const { t } = useTranslation('webhooks');
  const { moment } = useTimes();
  const { outcome, status, error, answer, type, method, sequence, attempt } = delivery;
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Badge variant="light" color={COLORS[outcome]} tt="none">
          {t(`outcome.${outcome}`)}
        </Badge>
        <Text size="sm" fw={600}>
          {type}.{method}
        </Text>
        {status !== undefined && <Text size="sm">{t('delivery.status', { status })}</Text>}
        <Text size="sm" c="dimmed">
          {t('delivery.facts', { sequence, attempt, ms: delivery.latency_ms, time: moment(delivery.at_ms) })}
        </Text>
      </Group>
      {error !== undefined && <Text size="sm">{error}</Text>}
      {answer !== undefined && answer !== '' && (
        <Code block className="raw-text" tabIndex={0} aria-label={t('delivery.answer')}>
          {answer}
        </Code>
      )}
    </Stack>
  );
}
