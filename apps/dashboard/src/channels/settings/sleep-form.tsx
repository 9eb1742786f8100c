import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useAction } from '../../api/api.js';
import { FailureNote, fieldFault } from '../../frame/failure-note.js';
import { Part } from '../part.js';

const MINUTE_S = 60;

const minutes = (seconds: number | undefined): string => (seconds === undefined ? '' : String(seconds / MINUTE_S));
const seconds = (text: string): number | undefined => (text === '' ? undefined : Math.round(Number(text) * MINUTE_S));

/** When the number sleeps, and how often it is woken to receive. Empty: the default. */
export function SleepForm({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('channelSettings');
  const { t: frame } = useTranslation();
  const form = useForm({
    initialValues: {
      idleAfter: minutes(channel.sleep?.idle_after_s),
      drainEvery: minutes(channel.sleep?.drain_every_s),
    },
  });
  const save = useAction('setSleep', { changes: ['getChannel', 'listChannels'] });
  const submit = ({ idleAfter, drainEvery }: typeof form.values): void =>
    save.mutate({
      path: { id: channel.id },
      body: { idle_after_s: seconds(idleAfter), drain_every_s: seconds(drainEvery) },
    });
  return (
    <Part title={t('sleep.title')} about={t('sleep.about')}>
      <form noValidate onSubmit={form.onSubmit(submit)}>
        <Stack gap="sm" maw={360}>
          <TextInput
            label={t('sleep.idleAfter')}
            description={t('sleep.idleAfterHelp')}
            type="number"
            min={0}
            {...form.getInputProps('idleAfter')}
            error={fieldFault(save.error, 'idle_after_s')}
          />
          <TextInput
            label={t('sleep.drainEvery')}
            description={t('sleep.drainEveryHelp')}
            type="number"
            min={1}
            {...form.getInputProps('drainEvery')}
            error={fieldFault(save.error, 'drain_every_s')}
          />
          <Button
            type="submit"
            variant="default"
            loading={save.isPending}
            disabled={!form.isDirty()}
            style={{ alignSelf: 'flex-start' }}
          >
            {frame('save')}
          </Button>
        </Stack>
      </form>
      <FailureNote error={save.error} fields={['idle_after_s', 'drain_every_s']} />
      {save.isSuccess && (
        <Text size="sm" role="status">
          {t('saved')}
        </Text>
      )}
    </Part>
  );
}
