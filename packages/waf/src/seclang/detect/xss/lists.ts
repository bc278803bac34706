/** Tags and attributes that can run script, and what kind of attribute each is. Facts from libinjection (BSD-3-Clause) and the HTML and SVG standards. */

/** `url`: may hold a script URL. `name`: holds the name of another attribute. `always`: needs no look at its value. */
export type AttributeKind = 'always' | 'url' | 'name'

const words = (list: string): string[] => list.split(/\s+/).filter(Boolean)

export const TAGS: ReadonlySet<string> = new Set(
  words(`applet base comment embed frame frameset handler iframe import isindex link listener meta noscript object script style
    vmlframe xml xss`),
)

export const ATTRIBUTES: ReadonlyMap<string, AttributeKind> = new Map<string, AttributeKind>([
  ...words('dataformatas datasrc filter style').map((name): [string, AttributeKind] => [name, 'always']),
  ...words(
    'action background by dynsrc folder formaction from handler href lowsrc poster src to values xlink:href',
  ).map((name): [string, AttributeKind] => [name, 'url']),
  ['attributename', 'name'],
])

/** Names of event handlers without their `on`. */
export const EVENTS: ReadonlySet<string> = new Set(
  words(`abort activate addtrack afterprint afterscriptexecute afterupdate animationcancel animationend animationiteration
    animationstart antennastatechange appcommand appinstalled audioend audioprocess audiostart autocomplete autocompleteerror auxclick beforeactivate
    beforecopy beforecut beforedeactivate beforeeditfocus beforeinput beforeinstallprompt beforematch beforepaste beforeprint
    beforescriptexecute beforetoggle beforeunload beforeupdate begin beginevent blocked blur bounce boundary broadcast busy
    cached cancel canplay canplaythrough cellchange change chargingchange chargingtimechange checkboxstatechange checking click
    close command commandupdate compassneedscalibration complete compositionend compositionstart compositionupdate
    connect connecting contextmenu contentvisibilityautostatechange controllerchange controlselect copy cuechange cut
    dataavailable datachange datasetchanged datasetcomplete dblclick deactivate devicechange devicelight devicemotion
    deviceorientation deviceproximity dischargingtimechange disconnect domactivate domattributemodified
    domcharacterdatamodified domfocusin domfocusout dommenuitemactive dommenuiteminactive dommousescroll domnodeinserted
    domnodeinsertedintodocument domnoderemoved domnoderemovedfromdocument domsubtreemodified downloading drag dragdrop
    dragend dragenter dragexit draggesture dragleave dragover dragstart drop durationchange emptied encrypted end ended
    endevent enter enterpictureinpicture error errorupdate exit exitpictureinpicture exitfullscreen fetch filterchange finish focus
    focusin focusout formchange formdata formenter forminput freeze fullscreenchange fullscreenerror gamepadconnected
    gamepaddisconnected gesturechange gestureend gesturestart gotpointercapture hashchange help hide icecandidate inactive
    input install invalid isolatetime keydown keypress keyup languagechange layoutcomplete leavepictureinpicture
    levelchange load loadeddata loadedmetadata loadend loadstart losecapture lostpointercapture mark mediacomplete mediaerror
    message messageerror midimessage mousedown mouseenter mouseleave mousemove mouseout mouseover mouseup mousewheel move
    moveend movestart mozbrowserafterkeydown mozfullscreenchange mozfullscreenerror mozorientationchange mozpointerlockchange
    mozpointerlockerror mscontentzoom msgesturechange msgesturedoubletap msgestureend msgesturehold msgesturerestart
    msgesturestart msgesturetap msgotpointercapture msinertiastart mslostpointercapture msmanipulationstatechanged
    mspointercancel mspointerdown mspointerenter mspointerhover mspointerleave mspointermove mspointerout mspointerover
    mspointerup mssitemodejumplistitemremoved msthumbnailclick mute negotiationneeded nomatch notificationclick
    notificationclose noupdate obsolete offline online open orientationchange outofsync overflow overflowchanged overscroll
    page pagehide pageshow paste pause pay paymentrequest play playing pointercancel pointerdown pointerenter pointerleave
    pointerlockchange pointerlockerror pointermove pointerout pointerover pointerrawupdate pointerup popstate popuphidden
    popuphiding popupshowing popupshown progress propertychange push pushsubscriptionchange radiostatechange ratechange
    readystatechange rejectionhandled removetrack repeat repeatevent reset resize resizeend resizestart resume reverse rowdelete
    rowenter rowexit rowinserted rowsdelete rowsenter rowsexit rowsinserted scroll scrollend scrollsnapchange
    scrollsnapchanging search securitypolicyviolation seek seeked seeking select selectionchange selectstart show
    signalingstatechange slotchange sort soundend soundstart speechend speechstart stalled start statechange stop storage
    storagecommit submit success suspend svgabort svgerror svgload svgresize svgscroll svgunload svgzoom syncrestored
    synchrestored text textinput timeerror timeout timeupdate toggle touchcancel touchend touchenter touchleave touchmove
    touchstart track trackchange transitioncancel transitionend transitionrun transitionstart underflow unhandledrejection
    unload unmute update updateready upgradeneeded urlflip userproximity validationstatuschange versionchange visibilitychange
    voiceschanged volumechange vrdisplayconnected waiting warning webglcontextcreationerror webglcontextlost
    webglcontextrestored webkitanimationend webkitanimationiteration webkitanimationstart webkitfullscreenchange
    webkitfullscreenerror webkitmouseforcechanged webkitmouseforcedown webkitmouseforceup webkitmouseforcewillbegin
    webkitplaybacktargetavailabilitychanged webkitpresentationmodechanged webkittransitionend webkitwillrevealbottom wheel zoom`),
)
