import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Part } from '../part.js';
import { faultAt } from './draft.js';
import type { SettingProps } from './setting-props.js';

/** The way to the network. The password of the proxy is shown as ***; sent back so, it stays. */
export function ProxySetting({ settings, change, error }: SettingProps) {
  const { t } = useTranslation('channelSettings');
  return (
    <Part title={t('proxy.title')} about={t('proxy.about')}>
      <TextInput
        label={t('proxy.address')}
        description={t('proxy.addressHelp')}
        autoComplete="off"
        spellCheck={false}
        maw={560}
        value={settings.proxy}
        error={faultAt(error, 'proxy')}
        onChange={({ currentTarget: { value } }) => change('proxy', value.trim())}
      />
    </Part>
  );
}
