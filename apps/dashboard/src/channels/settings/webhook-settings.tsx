import { Button, Text } from '@mantine/core';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Part } from '../part.js';
import type { SettingProps } from './setting-props.js';
import type { Webhook } from './subscription.js';
import { WebhookFields } from './webhook-fields.js';

const MOST = 10;
const NEW_WEBHOOK: Webhook = { url: '', mode: 'body', events: [{ type: 'messages', method: 'post' }] };

/** Where events are delivered. */
export function WebhookSettings({ settings: { webhooks }, change, error }: SettingProps) {
  const { t } = useTranslation('channelSettings');
  const keys = useKeys(webhooks.length);
  const replace = (index: number, webhook: Webhook): void =>
    change(
      'webhooks',
      webhooks.map((entry, at) => (at === index ? webhook : entry)),
    );
  const remove = (index: number): void => {
    keys.splice(index, 1);
    change(
      'webhooks',
      webhooks.filter((_, at) => at !== index),
    );
  };
  return (
    <Part title={t('webhooks.title')} about={t('webhooks.about')}>
      {webhooks.length === 0 && <Text size="sm">{t('webhooks.none')}</Text>}
      {webhooks.map((webhook, index) => (
        <WebhookFields
          key={keys[index]}
          webhook={webhook}
          index={index}
          error={error}
          onChange={(changed) => replace(index, changed)}
          onRemove={() => remove(index)}
        />
      ))}
      <Button
        variant="default"
        disabled={webhooks.length >= MOST}
        onClick={() => change('webhooks', [...webhooks, NEW_WEBHOOK])}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('webhooks.add')}
      </Button>
    </Part>
  );
}

/** Keys that stay with their rows when one before them is removed. */
function useKeys(length: number): number[] {
  const keys = useRef<number[]>([]);
  const next = useRef(0);
  while (keys.current.length < length) keys.current.push(next.current++);
  keys.current.length = length;
  return keys.current;
}
