import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Loading } from '../../frame/page.js';
import { useMayChange } from '../may-change.js';
import { useChannel } from '../shown-channel.js';
import { AutomaticSettings } from './automatic-settings.js';
import { DeliverySettings } from './delivery-settings.js';
import { useDraft } from './draft.js';
import { MediaSettings } from './media-settings.js';
import { ProxySetting } from './proxy-setting.js';
import { SleepForm } from './sleep-form.js';
import type { Settings } from './subscription.js';
import { WebhookSettings } from './webhook-settings.js';

/** The settings of a channel, each with what it does. */
export function SettingsPage() {
  const { t } = useTranslation('channelSettings');
  const mayChange = useMayChange();
  const channel = useChannel();
  const settings = useRead('getSettings', { path: { id: channel.id } }, { enabled: mayChange });
  if (!mayChange) return <Text>{t('mayNot')}</Text>;
  if (settings.isPending) return <Loading />;
  return (
    <Stack gap="md">
      <FailureNote error={settings.error} />
      {settings.data && <SettingsForm channelId={channel.id} stored={settings.data} />}
      <SleepForm key={JSON.stringify(channel.sleep)} channel={channel} />
    </Stack>
  );
}

function SettingsForm({ channelId, stored }: { channelId: string; stored: Settings }) {
  const { t } = useTranslation('channelSettings');
  const { t: frame } = useTranslation();
  const { settings, change, isChanged, discard, save, isSaving, isSaved, error } = useDraft(channelId, stored);
  const parts = { settings, change, error };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Stack gap="md">
        <WebhookSettings {...parts} />
        <DeliverySettings {...parts} />
        <AutomaticSettings {...parts} />
        <MediaSettings {...parts} />
        <ProxySetting {...parts} />
        <Paper withBorder p="sm" pos="sticky" bottom={8} style={{ zIndex: 1 }}>
          <Stack gap="xs">
            <FailureNote error={error} />
            <Group justify="space-between">
              <Text size="sm" role="status">
                {isChanged ? t('unsaved') : isSaved && t('saved')}
              </Text>
              <Group gap="xs">
                <Button variant="default" disabled={!isChanged} onClick={discard}>
                  {t('discard')}
                </Button>
                <Button type="submit" loading={isSaving} disabled={!isChanged}>
                  {frame('save')}
                </Button>
              </Group>
            </Group>
          </Stack>
        </Paper>
      </Stack>
    </form>
  );
}
