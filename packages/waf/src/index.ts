/** @postern/waf: the web application firewall. Nothing is here yet. */
export {}
