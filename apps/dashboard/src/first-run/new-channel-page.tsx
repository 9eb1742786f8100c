import { Alert, Button, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import type { Installation } from '@dormouse/management-contract';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { operation, queryClient, useAction, useRead } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { Loading, Page } from '../frame/page.js';
import { useMayChange } from '../channels/may-change.js';
import { keepToken } from './channel-tokens.js';

/** Name and region of a new channel; the rest follows on its own page. */
export function NewChannelPage() {
  const { t } = useTranslation('firstRun');
  const mayChange = useMayChange();
  const installation = useRead('getInstallation', {});
  if (!mayChange) {
    return (
      <Page title={t('new.title')}>
        <Text>{t('new.mayNot')}</Text>
      </Page>
    );
  }
  return (
    <Page title={t('new.title')} about={t('new.about')}>
      <FailureNote error={installation.error} />
      {installation.data ? <NewChannelForm regions={installation.data.regions} /> : <Loading />}
    </Page>
  );
}

function NewChannelForm({ regions }: { regions: Installation['regions'] }) {
  const { t } = useTranslation('firstRun');
  const { t: channels } = useTranslation('channels');
  const navigate = useNavigate();
  const [first] = regions;
  // What follows is there when the channel is, so that its code is not waited for twice.
  useEffect(() => {
    void import('../channels/channel-page.js');
    void import('./start-page.js');
  }, []);
  const form = useForm({
    initialValues: { name: '', region: first?.code ?? 'sg' },
    validate: { name: (name) => (name.trim() === '' ? t('new.nameMissing') : null) },
  });
  const create = useAction('createChannel', {
    changes: ['listChannels'],
    onDone: ({ channel, token }) => {
      keepToken(channel.id, token);
      queryClient.setQueryData(operation('getChannel', { path: { id: channel.id } }).queryKey, channel);
      void navigate({ to: '/channels/$channel/start', params: { channel: channel.id } });
    },
  });
  const nameFault = form.errors['name'] ?? fieldFault(create.error, 'name');
  return (
    <form noValidate onSubmit={form.onSubmit((body) => create.mutate({ body }))}>
      <Stack maw={560}>
        <TextInput
          label={t('new.name')}
          description={t('new.nameHelp')}
          maxLength={100}
          autoFocus
          {...form.getInputProps('name')}
          error={nameFault}
        />
        {regions.length > 1 && (
          <Radio.Group label={t('new.region')} description={t('new.regionHelp')} {...form.getInputProps('region')}>
            <Stack gap="xs" mt="xs">
              {regions.map(({ code }) => (
                <Radio key={code} value={code} label={channels(`region.${code}`)} />
              ))}
            </Stack>
          </Radio.Group>
        )}
        {regions.length === 1 && first && (
          <Alert color="moss" title={t('new.oneRegion', { region: channels(`region.${first.code}`) })}>
            {t('new.regionHelp')}
          </Alert>
        )}
        <FailureNote error={create.error} fields={['name']} />
        <Button type="submit" loading={create.isPending} style={{ alignSelf: 'flex-start' }}>
          {t('new.create')}
        </Button>
      </Stack>
    </form>
  );
}
