import { Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Part } from '../part.js';
import { faultAt } from './draft.js';
import type { SettingProps } from './setting-props.js';

const MINUTE_MS = 60_000;

/** What happens when a webhook does not accept an event. */
export function DeliverySettings({ settings, change, error }: SettingProps) {
  const { t } = useTranslation('channelSettings');
  const {
    callback_persist: isKept,
    callback_backoff_delay_ms: pauseMs,
    max_callback_backoff_delay_ms: mostMs,
  } = settings;
  return (
    <Part title={t('delivery.title')}>
      <Switch
        label={t('delivery.persist')}
        description={t('delivery.persistHelp')}
        checked={isKept}
        onChange={({ currentTarget: { checked } }) => change('callback_persist', checked)}
      />
      <TextInput
        label={t('delivery.pause')}
        description={t('delivery.pauseHelp')}
        type="number"
        min={3}
        max={15}
        maw={360}
        value={pauseMs / 1_000}
        error={faultAt(error, 'callback_backoff_delay_ms')}
        onChange={({ currentTarget: { value } }) =>
          change('callback_backoff_delay_ms', Math.round(Number(value) * 1_000))
        }
      />
      <TextInput
        label={t('delivery.longest')}
        description={t('delivery.longestHelp')}
        type="number"
        min={10}
        max={60}
        maw={360}
        value={mostMs / MINUTE_MS}
        error={faultAt(error, 'max_callback_backoff_delay_ms')}
        onChange={({ currentTarget: { value } }) =>
          change('max_callback_backoff_delay_ms', Math.round(Number(value) * MINUTE_MS))
        }
      />
    </Part>
  );
}
