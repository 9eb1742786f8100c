import { Button, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { ConfirmButton } from '../frame/confirm-button.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { Part } from '../frame/part.js';
import { leaveForHome, useAccount } from '../session/session.js';
import { AccountSection } from './account-section.js';
import { saveAsFile } from './save-as-file.js';

/** The account itself: its name, what is stored of it, leaving it and ending it. */
export function AccountPage() {
  const { role } = useAccount();
  const isOwner = role === 'owner';
  return (
    <AccountSection name="overview">
      <Name isOwner={isOwner} />
      {isOwner && <Export />}
      <Leave />
      {isOwner && <End />}
    </AccountSection>
  );
}

function Name({ isOwner }: { isOwner: boolean }) {
  const { t } = useTranslation(['account', 'frame']);
  const account = useAccount();
  const form = useForm({ initialValues: { name: account.name } });
  const rename = useAction('renameAccount', { changes: ['listAccounts', 'getAccount'] });
  if (!isOwner)
    return (
      <Part title={account.name}>
        <Text size="sm">{t('account:name.ownersChange')}</Text>
      </Part>
    );
  return (
    <Paper withBorder p="md">
      <form onSubmit={form.onSubmit((body) => rename.mutate({ body }))}>
        <Stack gap="sm" align="flex-start">
          <TextInput
            label={t('account:name.label')}
            w="100%"
            maw={420}
            {...form.getInputProps('name')}
            error={fieldFault(rename.error, 'name')}
          />
          <FailureNote error={rename.error} fields={['name']} />
          <Button type="submit" loading={rename.isPending}>
            {t('frame:save')}
          </Button>
          <Text size="sm" role="status">
            {rename.isSuccess ? t('account:saved') : ''}
          </Text>
        </Stack>
      </form>
    </Paper>
  );
}

function Export() {
  const { t } = useTranslation('account');
  const { id } = useAccount();
  const load = useAction('exportAccount', { onDone: (content) => saveAsFile(content, `account-${id}.json`) });
  return (
    <Part title={t('export.title')}>
      <Text size="sm">{t('export.text')}</Text>
      <FailureNote error={load.error} />
      <Button variant="default" loading={load.isPending} onClick={() => load.mutate({})}>
        {t('export.submit')}
      </Button>
    </Part>
  );
}

function Leave() {
  const { t } = useTranslation('account');
  const { name } = useAccount();
  const leave = useAction('leaveAccount');
  return (
    <Part title={t('leave.title')}>
      <Text size="sm">{t('leave.text')}</Text>
      <ConfirmButton
        label={t('leave.submit')}
        title={t('leave.confirm', { name })}
        text={t('leave.text')}
        action={leave}
        onConfirm={() => leave.mutateAsync({}).then(leaveForHome)}
      />
    </Part>
  );
}

function End() {
  const { t } = useTranslation('account');
  const { name } = useAccount();
  const [typed, setTyped] = useState('');
  const end = useAction('endAccount');
  return (
    <Part title={t('end.title')}>
      <Text size="sm">{t('end.text')}</Text>
      <ConfirmButton
        label={t('end.submit')}
        title={t('end.confirm', { name })}
        text={t('end.text')}
        action={end}
        isDisabled={typed !== name}
        onConfirm={() => end.mutateAsync({ body: { name: typed } }).then(leaveForHome)}
      >
        <TextInput
          label={t('end.type', { name })}
          value={typed}
          autoComplete="off"
          onChange={({ currentTarget: { value } }) => setTyped(value)}
        />
      </ConfirmButton>
    </Part>
  );
}
